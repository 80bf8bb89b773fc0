// The tables of the host as C code meets them: what must be there is looked for, and said.
#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tn = tenon;
using tn::Tensor;

namespace {

TEST(Border, NullsAreRefused) {
  tn::load_plugins();
  const tn_host* h = tenon_host(TN_ABI_VERSION, nullptr);
  const auto* tensor = static_cast<const tn_tensor_api*>(h->get_interface("tensor/1"));
  const auto* autograd = static_cast<const tn_autograd_api*>(h->get_interface("autograd/1"));
  const auto* object = static_cast<const tn_object_api*>(h->get_interface("object/1"));
  const auto refused = [&](tn_status* status, const std::string& part) {
    ASSERT_NE(status, nullptr) << part;
    EXPECT_EQ(h->status_code(status), TN_INVALID_ARGUMENT);
    EXPECT_NE(std::string(h->status_message(status)).find(part), std::string::npos)
        << h->status_message(status);
    h->status_free(status);
  };
  const tn_op* op = nullptr;
  tn_value result{};
  refused(h->find_op(nullptr, &op), "the name is NULL");
  refused(h->call(nullptr, nullptr, 0, &result, 1),
          "call: the op, the arguments or the results are NULL");
  tn::check(tn::host()->find_op("add", &op));
  refused(h->call(op, nullptr, 2, &result, 1), "are NULL");
  const tn_op* e = nullptr;
  refused(h->expression("_f(Tensor x) -> Tensor", nullptr, &e), "formula is NULL");
  // However long what they quote is, messages are not.
  tn_status* unknown = h->find_op(std::string(100000, 'i').c_str(), &op);
  EXPECT_LE(std::string(h->status_message(unknown)).size(), 4096u);
  h->status_free(unknown);
  tn_value loop{TN_KIND_LOOP, 0, {}};
  refused(h->value_copy(&loop, &result), "value_copy: the value is loop");
  h->tensor_retain(nullptr);
  h->status_set_payload(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(h->get_interface(nullptr), nullptr);

  tn_tensor* made = nullptr;
  refused(tensor->empty(2, nullptr, TN_FLOAT32, {0, 0}, &made), "sizes is NULL");
  Tensor x = tn::ones({2});
  refused(tensor->read(x.get(), nullptr, 8), "memory is NULL");
  refused(tensor->to(x.get(), {0, 0}, 12, &made), "dtype 12");
  tn_status* nowhere = tensor->to(x.get(), {0, 5}, TN_FLOAT32, &made);
  EXPECT_NE(nowhere, nullptr);
  h->status_free(nowhere);
  EXPECT_EQ(tensor->dtype_from_name(nullptr), TN_DTYPE_NONE);
  refused(autograd->backward(nullptr, nullptr, 2, 0), "list of tensors is NULL");
  refused(autograd->add_hook(x.get(), nullptr, nullptr, nullptr, nullptr), "function is NULL");
  EXPECT_EQ(autograd->node_n_next(nullptr), 0u);
  EXPECT_EQ(autograd->node_next(nullptr, 0), nullptr);

  tn_object* o = nullptr;
  refused(object->create(nullptr, nullptr, 0, &o), "the factory's name is NULL");
  const char* none[] = {nullptr};
  refused(object->create_named("Linear", none, &loop, 1, &o), "name 0 of 1 is NULL");
  refused(object->set_tensor(nullptr, "a", x.get(), TN_ENTRY_PARAMETER), "the object is NULL");
  refused(object->invoke(nullptr, "forward", nullptr, 0, nullptr, 0), "the object is NULL");
  tn::check(object->create_empty("Mine", TN_OBJECT_LAYER, &o));
  refused(object->set_tensor(o, nullptr, x.get(), TN_ENTRY_PARAMETER), "the name is NULL");
  refused(object->invoke(o, "forward", nullptr, 1, nullptr, 0), "list of arguments is NULL");
  refused(object->add_method(o, "f() -> ()", nullptr, nullptr, nullptr), "function is NULL");
  refused(object->load_state(o, none, nullptr, 1, 1), "list of tensors is NULL");
  EXPECT_EQ(object->n_children(nullptr), 0u);
  object->release(o);
}

TEST(Border, TheHostSaysWhyItGivesNothing) {
  const char* why = nullptr;
  EXPECT_EQ(tenon_host(TN_ABI_VERSION + 1, &why), nullptr);
  const std::string own =
      "has ABI " + std::to_string(TN_ABI_MAJOR) + "." + std::to_string(TN_ABI_MINOR);
  EXPECT_NE(std::string(why).find(own), std::string::npos) << why;
  EXPECT_EQ(tenon_host(TN_ABI_VERSION + 1, nullptr), nullptr);
  EXPECT_NE(tenon_host(TN_ABI_VERSION, nullptr), nullptr);
}

TEST(Border, NullsInPlaceOfAResultAreRefused) {
  tn::load_plugins();
  const tn_host* h = tenon_host(TN_ABI_VERSION, nullptr);
  const auto* tensor = static_cast<const tn_tensor_api*>(h->get_interface("tensor/1"));
  const auto* device = static_cast<const tn_device_api*>(h->get_interface("device/1"));
  const auto* capture = static_cast<const tn_capture_api*>(h->get_interface("capture/1"));
  const auto* autograd = static_cast<const tn_autograd_api*>(h->get_interface("autograd/1"));
  const auto* random = static_cast<const tn_random_api*>(h->get_interface("random/1"));
  const auto* object = static_cast<const tn_object_api*>(h->get_interface("object/1"));
  const auto* plugin = static_cast<const tn_plugin_api*>(h->get_interface("plugin/1"));
  const auto* explain = static_cast<const tn_explain_api*>(h->get_interface("explain/1"));
  const auto refused = [&](tn_status* status, const std::string& message) {
    ASSERT_NE(status, nullptr) << message;
    EXPECT_EQ(h->status_code(status), TN_INVALID_ARGUMENT);
    EXPECT_STREQ(h->status_message(status), message.c_str());
    h->status_free(status);
  };
  const auto no_place = [&](tn_status* status, const std::string& what) {
    refused(status, what + ": the place for the result is NULL");
  };
  tn_value value{TN_KIND_INT, 0, {}};
  no_place(h->find_op("add", nullptr), "find_op");
  no_place(h->expression("_f(Tensor x) -> Tensor", "x", nullptr), "expression");
  no_place(h->value_copy(&value, nullptr), "value_copy");
  refused(h->value_copy(nullptr, &value), "value_copy: the value is NULL");
  refused(h->status(TN_INVALID_ARGUMENT, nullptr, nullptr), "no message");
  const std::string either = ": the call or the place for the result is NULL";
  void* data = nullptr;
  const tn_call* kept = nullptr;
  const tn_call call = {};
  refused(h->workspace(nullptr, 1, &data), "workspace" + either);
  refused(h->workspace(&call, 1, nullptr), "workspace" + either);
  refused(h->keep(nullptr, &kept), "keep" + either);
  refused(h->keep(&call, nullptr), "keep" + either);
  refused(h->set_output(nullptr, 0, 0, nullptr), "set_output: the call is NULL");
  refused(h->set_output(&call, 0, 1, nullptr), "set_output: sizes is NULL, with 1 dimensions");
  refused(h->set_output(&call, 0, -1, nullptr), "set_output: -1 dimensions");

  Tensor x = tn::ones({2});
  const int64_t sizes[] = {2};
  float memory[2] = {};
  no_place(tensor->empty(1, sizes, TN_FLOAT32, {0, 0}, nullptr), "empty");
  no_place(tensor->from_memory(memory, 1, sizes, nullptr, TN_FLOAT32, nullptr, nullptr, nullptr),
           "from_memory");
  no_place(tensor->to(x.get(), {0, 0}, TN_FLOAT64, nullptr), "to");
  no_place(tensor->mutable_data(x.get(), nullptr), "mutable_data");
  no_place(tensor->detach(x.get(), nullptr), "detach");
  no_place(tensor->to_dlpack(x.get(), 0, nullptr), "to_dlpack");
  no_place(tensor->from_dlpack(memory, nullptr), "from_dlpack");
  no_place(device->parse("cpu", nullptr), "parse");
  no_place(device->stream_create({0, 0}, nullptr), "stream_create");
  no_place(device->current_stream({0, 0}, nullptr), "current_stream");
  no_place(device->memory_stats({0, 0}, nullptr), "memory_stats");
  no_place(capture->end(nullptr), "capture_end");
  refused(capture->launch(nullptr, {0, 0}), "capture_launch: the graph is NULL");
  capture->destroy(nullptr);
  no_place(autograd->custom_saved(0, nullptr), "custom_saved");
  random->get_state(nullptr, nullptr);
  no_place(plugin->list(nullptr), "list");
  no_place(plugin->ops(nullptr), "ops");
  explain->begin();
  no_place(explain->end(nullptr), "explain_end");
  const char* text = nullptr;
  tn::check(explain->end(&text));
  h->text_free(text);

  tn_object* o = nullptr;
  const char* name = nullptr;
  no_place(object->create("ReLU", nullptr, 0, nullptr), "create");
  no_place(object->create_named("ReLU", nullptr, nullptr, 0, nullptr), "create_named");
  no_place(object->create_empty("Mine", TN_OBJECT_LAYER, nullptr), "create_empty");
  tn::check(object->create_empty("Mine", TN_OBJECT_LAYER, &o));
  no_place(object->tensor(o, "weight", nullptr), "tensor");
  no_place(object->child(o, "0", nullptr), "child");
  no_place(object->child_at(o, 0, &name, nullptr), "child_at");
  refused(object->child_at(o, 0, nullptr, &o), "child_at: the place for the name is NULL");
  no_place(object->option(o, "lr", nullptr), "option");
  no_place(object->method_schema(o, "forward", nullptr), "method_schema");
  refused(object->describe(o, nullptr), "describe: the place for the text is NULL");
  uint32_t n = 0;
  refused(object->group(o, 0, nullptr, &n), "group: the place for the tensors is NULL");
  tn_tensor* const* borrowed = nullptr;
  refused(object->group(o, 0, &borrowed, nullptr), "group: the place for their number is NULL");
  no_place(object->group_option(o, 0, "lr", nullptr), "group_option");
  object->release(o);
}

}  // namespace
