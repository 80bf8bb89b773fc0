// States that are not quite the module's: weights from before there was a count of batches, numbers in a
// list of one, floats for whole numbers. Expectations are PyTorch's but where it writes any number at all.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

namespace nn = tn::nn;
using tn::Object;

TEST(StateLoading, AStateMayBeWithoutItsCountOfBatches) {
  load_all();
  for (const Object& norm :
       {nn::BatchNorm2d(2), nn::InstanceNorm1d(2, {.affine = true, .track_running_stats = true})}) {
    const auto model = nn::Sequential({norm});
    model[0].tensor("num_batches_tracked").fill_(5);
    tn::NamedTensors state = model.state_dict();
    state.pop("0.num_batches_tracked");
    for (auto& [name, tensor] : state) tensor = tensor + 3;
    model.load_state_dict(state);
    EXPECT_EQ(norm.tensor("num_batches_tracked").item<int64_t>(), 5);
    expect_near(norm.tensor("running_mean"), {3, 3});
    const auto [missing, unexpected] = model.load_state_dict(state, false);
    EXPECT_TRUE(missing.empty() && unexpected.empty());
    state.pop("0.running_mean");
    EXPECT_EQ(message_of([&] { model.load_state_dict(state); }),
              "load_state: '0.running_mean' is missing in the state_dict");
    EXPECT_EQ(model.load_state_dict(state, false).missing_keys,
              std::vector<std::string>{"0.running_mean"});
  }
}

TEST(StateLoading, ANumberMayStandInAListOfOne) {
  load_all();
  const Object object = Object::empty("Scale");
  object.parameter("p", tn::zeros({}));
  object.load_state_dict({{"p", tn::full({1}, 4)}});
  EXPECT_EQ(object.tensor("p").item(), 4);
  EXPECT_EQ(object.tensor("p").dim(), 0);
  const tn::Device ref("ref");
  object.load_state_dict({{"p", tn::arange(3.0).to(ref).slice(0, 2, 3)}});
  EXPECT_EQ(object.tensor("p").item(), 2);
  EXPECT_EQ(message_of([&] {
              object.load_state_dict({{"p", tn::ones({2})}});
            }),
            "load_state: 'p' is [] here and [2] in the state_dict");
  EXPECT_EQ(message_of([&] {
              object.load_state_dict({{"p", tn::ones({1, 1})}});
            }),
            "load_state: 'p' is [] here and [1, 1] in the state_dict");
}

TEST(StateLoading, AWholeNumberTakesNoFloatThatIsNone) {
  load_all();
  const Object object = Object::empty("Counts");
  object.buffer("count", tn::zeros({2}, tn::int64));
  object.buffer("byte", tn::zeros({}, tn::uint8));
  const auto load = [&](const char* name, const Tensor& tensor) {
    tn::NamedTensors state = object.state_dict();
    state.set(name, tensor);
    return message_of([&] { object.load_state_dict(state); });
  };
  const auto refused = [](const char* name, const char* dtype, const char* value) {
    return std::string("load_state: '") + name + "' is " + dtype + " here, which has no " + value +
           " of the state_dict (float32)";
  };
  EXPECT_EQ(load("count", tn::tensor({1.0, std::nan("")})), refused("count", "int64", "nan"));
  EXPECT_EQ(load("count", tn::tensor({1.0, INFINITY})), refused("count", "int64", "inf"));
  EXPECT_NE(load("count", tn::full({2}, 0x1p63)), "no error");
  EXPECT_NE(load("count", tn::full({2}, 1e30)), "no error");
  EXPECT_NE(load("count", tn::full({2}, -0x1.1p63)), "no error");
  EXPECT_EQ(load("byte", tn::tensor(256.0)), refused("byte", "uint8", "256"));
  EXPECT_EQ(load("byte", tn::tensor(-1.0)), refused("byte", "uint8", "-1"));
  expect_near(object.tensor("count").to(tn::float32), {0, 0});  // nothing was loaded
  const tn::Device ref("ref");
  EXPECT_EQ(load("count", tn::tensor({std::nan(""), 1.0}).to(ref)),
            refused("count", "int64", "nan"));
  // Else the values are cut to whole ones, as copy_ does.
  EXPECT_EQ(load("count", tn::full({2}, -0x1p63)), "no error");
  EXPECT_EQ(object.tensor("count")[0].item<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(load("count", tn::tensor({2.75, -2.75})), "no error");
  expect_near(object.tensor("count").to(tn::float32), {2, -2});
  EXPECT_EQ(load("byte", tn::tensor(255.5)), "no error");
  EXPECT_EQ(load("byte", tn::tensor(-0.5)), "no error");
}

}  // namespace
