// From init to commit, and the search: a failed load leaves nothing, conflicts name the first
// plugin, kernels wait, priorities decide, needs are sorted, and all of it goes beside running
// calls.
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "amp/autocast.h"
#include "base/threads.h"
#include "registry/compilers.h"
#include "registry/registry.h"
#include "object/factory.h"
#include "plugin/listing.h"
#include "plugin/search.h"
#include "plugin/trust.h"
#include "plugin_support.h"

namespace tenon {
namespace {

using testing::exported;
using testing::Folder;
using testing::load;
using testing::load_folders;
using testing::record_of;
using testing::text_of;

const Op* find_op(const std::string& name) {
  const Op* op = nullptr;
  free_status(registry().find(name, &op));
  return op;
}

std::string refusal_of(const std::string& plugin) {
  Folder folder;
  return load(folder.place(plugin));
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PluginInit, BringsItsOps) {
  Folder folder;
  const auto library = folder.place("pack25");
  ASSERT_EQ(load(library), "");
  EXPECT_EQ(load(library), "") << "a second load of the same file changes nothing";
  const Op* op = find_op("pack25.twice");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->plugin, "pack25");
  EXPECT_EQ(op->kind, OpKind::kExpression);
  EXPECT_NE(find_op("pack25.twice_"), nullptr);
  EXPECT_EQ(find_op("twice"), nullptr) << "only the standard pack answers without its prefix";
  const PluginRecord record = record_of(library);
  EXPECT_EQ(record.state, PluginState::kLoaded);
  EXPECT_EQ(record.brings.ops, 2u);
  EXPECT_EQ(exported<int>(library, "small_destroyed"), 0);
}

// pack1 may be there already: tests run in any order.
void load_pack1() {
  static Folder folder;
  if (find_op("pack1.twice") == nullptr) {
    ASSERT_EQ(load(folder.place("pack1")), "");
  }
}

// What there is of the things that the plugin `fails` registers, a name each.
std::set<std::string> left_of_fails() {
  std::set<std::string> left;
  const auto note = [&](const char* what, bool there) {
    if (there) left.insert(what);
  };
  note("op", find_op("fails.half") != nullptr);
  note("fused op", find_op("fails.both") != nullptr);
  for (const Kernel* kernel : registry().all_kernels()) {
    if (kernel->plugin == "fails")
      left.insert(kernel->is_pair ? "pair" : "kernel on " + kernel->device);
  }
  for (const WaitingKernel& waiting : registry().waiting_kernels()) {
    note("waiting kernel", waiting.kernel->plugin == "fails");
  }
  note("device", find_device_type("slot3") != nullptr);
  const std::string refusal = text_of(enter_autocast({TN_DEVICE_CPU, 0}, TN_BFLOAT16, "O3"));
  note("amp policy", refusal.empty());
  if (refusal.empty()) free_status(leave_autocast());
  for (const Factory* factory : all_factories()) note("factory", factory->plugin == "fails");
  for (const Compiler& compiler : all_compilers()) note("compiler", compiler.plugin == "fails");
  note("threads", thread_count() == 77);
  const Op* const both = find_op("fails.both");
  note("vjp", both != nullptr && both->vjp != nullptr);
  return left;
}

// By this name it runs before the others, which fill slots that one plugin only can have.
class PluginHalfWayDeathTest
    : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  void TearDown() override { ::unsetenv("TENON_TEST_FAILS"); }
};

TEST_P(PluginHalfWayDeathTest, FailureLeavesNothingAndTheNamesAreFree) {
  const auto [how, message] = GetParam();
  load_pack1();
  Folder folder;
  const auto library = folder.place("fails");
  const int32_t device_types = device_type_count();
  ::setenv("TENON_TEST_FAILS", how, 1);
  EXPECT_EQ(load(library), "plugin " + library.string() + " was not loaded\n  because " + message);
  EXPECT_EQ(left_of_fails(), std::set<std::string>());
  EXPECT_EQ(device_type_count(), device_types);
  EXPECT_EQ(exported<int>(library, "small_destroyed"), 11);
  EXPECT_EQ(exported<int>(library, "small_shut_down"), 0);
  EXPECT_EQ(record_of(library).state, PluginState::kFailed);

  // In a process of its own: the other tests fill the slots themselves.
  ::unsetenv("TENON_TEST_FAILS");
  const auto load_again = [] {
    Folder other;
    const std::string text = load(other.place("fails"));
    std::string left;
    for (const std::string& what : left_of_fails()) left += " [" + what + "]";
    std::fprintf(stderr, "%s%s\n", text.c_str(), left.c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(
      load_again(), ::testing::ExitedWithCode(0),
      R"( \[amp policy\] \[compiler\] \[device\] \[factory\] \[fused op\] \[kernel on cpu\] \[kernel on nowhere\] \[op\])"
      R"( \[pair\] \[threads\] \[vjp\] \[waiting kernel\])");
}

INSTANTIATE_TEST_SUITE_P(
    Each, PluginHalfWayDeathTest,
    ::testing::Values(std::pair("status",
                                "tenon_plugin_init failed\n  because no accelerator in slot 3"),
                      std::pair("throws", "tenon_plugin_init threw: out of patience")));

TEST(PluginInit, ExceptionIsCaughtAtTheBorder) {
  expect_part(refusal_of("throws"), "because tenon_plugin_init threw: out of patience");
  expect_part(refusal_of("throws_int"),
              "because tenon_plugin_init threw what is no std::exception");
  EXPECT_EQ(find_op("throws.thrown"), nullptr);
}

TEST(PluginDevices, WithoutAMandatoryKernelAreReportedAtTheLoad) {
  Folder folder;
  ::testing::internal::CaptureStderr();
  const auto library = folder.place("device_partial");
  const std::string failed = load(library);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(failed, "");
  const std::string missing =
      "elementwise, reduce, matmul, iota, gather, scatter, random_bits, nonzero";
  EXPECT_NE(log.find("device 'partial' of plugin 'device_partial' has no kernel for " + missing +
                     ": ops that need one fail there"),
            log.npos)
      << log;
  EXPECT_NE(plugins_json().find("\"missing\": \"" + missing + "\""), std::string::npos);
  // Once.
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(load(library), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("partial"), std::string::npos);
}

TEST(PluginInit, IgnoredRefusalFailsTheLoad) {
  Folder folder;
  const auto library = folder.place("ignores");
  expect_part(load(library),
              "because tenon_plugin_init went on after a refusal\n  because op 'ignores.once' is "
              "registered twice");
  EXPECT_EQ(find_op("ignores.once"), nullptr);
  EXPECT_EQ(exported<int>(library, "small_destroyed"), 1) << "what was refused stays its own";
}

TEST(PluginInit, DefinitionsAreChecked) {
  expect_part(refusal_of("refused1"), "op: the definition's size is 0, expected " +
                                          std::to_string(sizeof(tn_op_def)) +
                                          " (is `size` set to its sizeof?)");
  expect_part(refusal_of("refused2"), "kernel: the definition is NULL");
  expect_part(refusal_of("refused3"), "op 'refused3.f'");
  expect_part(refusal_of("refused4"),
              "kernel pair: forward: the definition's size is 24, expected " +
                  std::to_string(sizeof(tn_kernel_def)));
  expect_part(refusal_of("refused5"), "vjp for 'nowhere.f' has no function");
  expect_part(refusal_of("refused6"),
              "kernel for 'f' on 'cpu': op 'refused6.f' is an expression, whose gradient is "
              "derived or stated: bring a kernel "
              "without backward");
  expect_part(refusal_of("device_named"),
              "device 'Acme-2': expected a name of lower case letters, digits and '_'");
}

TEST(PluginInit, YoungerAndLargerDefinitionsAreTaken) {
  Folder folder;
  EXPECT_EQ(load(folder.place("larger")), "");
  EXPECT_NE(find_op("larger.grown"), nullptr);
}

TEST(PluginInit, LoadsNothingItselfAndKeepsNoRegistrar) {
  Folder folder;
  const auto library = folder.place("nested");
  ASSERT_EQ(load(library), "");
  Status& nested = exported<Status>(library, "small_nested");
  EXPECT_EQ(text_of(nested), "load: called inside tenon_plugin_init");
  tn_registrar* registrar = exported<tn_registrar*>(library, "small_registrar");
  tn_op_def def{};
  def.size = sizeof(def);
  EXPECT_EQ(text_of(registrar->op(registrar, &def)),
            "plugin 'nested': the registrar is valid during tenon_plugin_init only");
}

TEST(PluginConflict, TheSecondOfOneNameIsRefusedAndNamesTheFirst) {
  Folder folder;
  ASSERT_EQ(load(folder.place("device_first")), "");
  ASSERT_NE(find_device_type("acme"), nullptr);
  EXPECT_EQ(find_device_type("acme")->plugin, "device_first");
  ASSERT_EQ(load(folder.place("factory_first")), "");
  ASSERT_EQ(load(folder.place("policy_first")), "");
  ASSERT_EQ(load(folder.place("threads_first")), "");
  const auto second = folder.place("device_second");
  expect_part(load(second), "device 'acme': the name is taken by plugin 'device_first'");
  EXPECT_EQ(exported<int>(second, "small_destroyed"), 0) << "what was refused stays its own";
  expect_part(refusal_of("factory_second"),
              "factory Claimed: plugin 'factory_first' brings one of this name already");
  expect_part(refusal_of("policy_second"),
              "amp policy 'acme' is there already, from plugin 'policy_first'");
  expect_part(refusal_of("threads_second"),
              "threads are there already, from plugin 'threads_first'");
}

TEST(PluginConflict, ASecondLibraryOfOneIdIsRefused) {
  Folder one, two;
  const auto first = one.place("pack2"), second = two.place("pack2");
  ASSERT_EQ(load(first), "");
  expect_part(load(second), "plugin 'pack2' is loaded already, from " + first.string());
}

std::vector<std::string> cpu_kernels() {
  std::vector<std::string> plugins;
  const KernelList* list = find_op("pack1.twice")->kernels.find(TN_DEVICE_CPU);
  if (list == nullptr) return plugins;
  for (const Kernel* kernel : *list) plugins.push_back(kernel->plugin);
  return plugins;
}

bool waits(const std::string& plugin, std::string* reason) {
  for (const WaitingKernel& waiting : registry().waiting_kernels()) {
    if (waiting.kernel->plugin != plugin) continue;
    *reason = waiting.reason;
    return true;
  }
  return false;
}

TEST(PluginKernels, PriorityDecidesAndAmongEqualsTheEarlier) {
  load_pack1();
  Folder folder;
  for (const char* name : {"kernel_waits", "kernel_high", "kernel_equal"}) {
    ASSERT_EQ(load(folder.place(name)), "");
  }
  EXPECT_EQ(cpu_kernels(),
            (std::vector<std::string>{"kernel_high", "kernel_equal", "kernel_waits"}));
}

TEST(PluginKernels, WaitForTheirDevice) {
  load_pack1();
  Folder folder;
  ASSERT_EQ(load(folder.place("kernel_later")), "");
  std::string reason;
  ASSERT_TRUE(waits("kernel_later", &reason));
  EXPECT_EQ(reason, "device 'later' is not there");
  const auto document = nlohmann::json::parse(plugins_json());
  EXPECT_EQ(document["waiting"].back(),
            nlohmann::json({{"kernel", "pack1.twice"},
                            {"device", "later"},
                            {"plugin", "kernel_later"},
                            {"reason", "device 'later' is not there"}}));
  ASSERT_EQ(load(folder.place("device_later")), "");
  EXPECT_FALSE(waits("kernel_later", &reason));
  const int32_t type = find_device_type("later")->type;
  const KernelList* list = find_op("pack1.twice")->kernels.find(type);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->front()->plugin, "kernel_later");
  ASSERT_NE(registry().primitive(TN_PRIM_COPY).find(type), nullptr);
}

TEST(PluginKernels, WithAnotherSchemaAreRefused) {
  load_pack1();
  expect_part(refusal_of("kernel_other"),
              "it states 'pack1.twice(Tensor y) -> Tensor', the op is 'twice(Tensor x) -> Tensor'");
}

TEST(PluginSearch, AnIdMetAgainIsShadowed) {
  Folder one, two;
  const auto first = one.place("pack3"), second = two.place("pack3");
  const auto broken = one.place("no_init", "[]", "broken");
  ASSERT_EQ(load_folders(one.path().string() + ":" + two.path().string()), "");
  EXPECT_EQ(record_of(first).state, PluginState::kLoaded);
  EXPECT_EQ(record_of(second).state, PluginState::kShadowed);
  EXPECT_EQ(record_of(second).reason, "shadowed by " + first.string());
  EXPECT_EQ(record_of(broken).state, PluginState::kFailed) << "and it stopped no other";
  ASSERT_EQ(load_folders(one.path().string() + ":" + two.path().string()), "");
  EXPECT_EQ(record_of(second).state, PluginState::kShadowed) << "twice is as once";
}

TEST(PluginSearch, ABrokenOneShadowsNothing) {
  Folder one, two;
  const auto first = one.place("pack4"), second = two.place("pack4");
  testing::write_file(first, "no library");
  ASSERT_EQ(load_folders(one.path().string() + ":" + two.path().string()), "");
  EXPECT_EQ(record_of(first).reason, "not an ELF file: it starts with 6e 6f 20 6c");
  EXPECT_EQ(record_of(second).state, PluginState::kLoaded);
}

TEST(PluginSearch, NeedsAreLoadedFirst) {
  Folder folder;  // by name pack5 would be first
  const auto first = folder.place("pack5", R"(["pack6"])");
  const auto second = folder.place("pack6", R"(["pack7"])");
  const auto third = folder.place("pack7");
  ASSERT_EQ(load_folders(folder.path()), "");
  std::vector<std::string> order;
  for (const PluginRecord& r : plugin_records()) {
    if (r.file.parent_path() == folder.path()) order.push_back(r.manifest.id);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"pack7", "pack6", "pack5"}));
}

TEST(PluginSearch, NeedsThatCannotBeMetAreNamed) {
  Folder folder;
  const auto lone = folder.place("pack13", R"(["absent"])");
  const auto circle_a = folder.place("pack14", R"(["pack15"])");
  const auto circle_b = folder.place("pack15", R"(["pack14"])");
  const auto behind = folder.place("pack16", R"(["pack14"])");
  const auto on_broken = folder.place("pack17", R"(["no_init"])");
  folder.place("no_init");
  ASSERT_EQ(load_folders(folder.path()), "");
  EXPECT_EQ(record_of(lone).reason, "needs plugin 'absent', which is not there");
  EXPECT_EQ(record_of(circle_a).reason, "needs go in a circle: pack14 -> pack15 -> pack14");
  EXPECT_EQ(record_of(circle_b).reason, "needs go in a circle: pack15 -> pack14 -> pack15");
  EXPECT_EQ(record_of(behind).reason, "needs plugin 'pack14', which did not load");
  EXPECT_EQ(record_of(on_broken).reason, "needs plugin 'no_init', which did not load");
  expect_part(load(lone), "needs plugin 'absent', which is not loaded: load it first, or load all");
}

TEST(PluginSearch, NeverLooksInTheWorkingDirectory) {
  Folder folder;
  const auto library = folder.place("pack18");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(load_folders(".::" + folder.path().filename().string()), "");
  const std::string log = ::testing::internal::GetCapturedStderr(),
                    warning =
                        "TENON_PLUGIN_PATH: '.' is not an absolute path: the working directory "
                        "is not searched";
  expect_part(log, warning);
  EXPECT_EQ(log.find(warning), log.rfind(warning)) << "once";
  const auto document = nlohmann::json::parse(plugins_json());
  EXPECT_EQ(find_op("pack18.twice"), nullptr);
  EXPECT_EQ(load("libpack18.so"), "") << "an explicit path may be relative";
  std::filesystem::current_path(before);
  EXPECT_NE(find_op("pack18.twice"), nullptr);
  ASSERT_GE(document["ignored"].size(), 1u);
  EXPECT_EQ(document["ignored"][0]["folder"], ".");
  EXPECT_EQ(document["ignored"][0]["reason"],
            "not an absolute path: the working directory is not searched");
}

TEST(PluginSearch, SaysWhichFoldersAreNotThere) {
  Folder folder;
  const std::string absent = (folder.path() / "absent").string(),
                    file = (folder.path() / "file").string();
  std::ofstream(file) << "x";
  EXPECT_EQ(load_folders(absent + ":" + file + ":" + folder.path().string()), "");
  const auto document = nlohmann::json::parse(plugins_json());
  EXPECT_EQ(document["searched"][0], folder.path().string());
  ASSERT_GE(document["ignored"].size(), 2u);
  EXPECT_EQ(document["ignored"][0]["folder"], absent);
  EXPECT_EQ(document["ignored"][0]["reason"], "there is no such folder");
  EXPECT_EQ(document["ignored"][1]["folder"], file);
  EXPECT_EQ(document["ignored"][1]["reason"], "cannot be read: Not a directory");
}

// Not a test of its own: what the next one runs as another user.
TEST(PluginSearch, DISABLED_PrintsItsFolders) {
  std::printf("%s\n", ::getauxval(AT_SECURE) != 0 ? "privileged" : "plain");
  for (const SearchFolder& searched : search_folders())
    std::printf("%s\n", searched.folder.c_str());
  const char* open = std::getenv("TENON_TEST_OPEN");
  const StatusHolder status(open == nullptr ? nullptr : check_trust(open));
  std::printf("%s\n", status ? status_text(status.get()) : "trusted");
}

TEST(PluginSearch, IgnoresTheVariableAndOpenFoldersInAPrivilegedProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can run a program as another user";
  Folder folder;
  const auto program = folder.path() / "program", wanted = folder.path() / "wanted";
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::copy_file("/proc/self/exe", program);
  const auto open = folder.path() / "open";
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms(0777));
  const auto run_as_nobody = [&] {
    const std::string command =
        "TENON_TEST_OPEN='" + open.string() + "' TENON_PLUGIN_PATH='" + wanted.string() +
        "' setpriv --reuid=65534 --regid=65534 --clear-groups '" + program.string() +
        "' --gtest_also_run_disabled_tests --gtest_filter='PluginSearch.DISABLED_PrintsItsFolders' "
        "2>&1";
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  };
  const std::string plain = run_as_nobody();
  if (plain.find("plain\n") == plain.npos)
    GTEST_SKIP() << "no other user can be had here: " << plain;
  expect_part(plain, wanted.string());
  expect_part(plain, "tenon warning: plugins: every user of this machine may write the folder " +
                         open.string());
  expect_part(plain, "trusted\n");
  std::filesystem::permissions(program, std::filesystem::perms(02755));  // its group is root's
  const std::string privileged = run_as_nobody();
  if (privileged.find("plain\n") != privileged.npos)
    GTEST_SKIP() << "this file system gives no rights to programs";
  expect_part(privileged, "privileged\n");
  EXPECT_EQ(privileged.find(wanted.string()), privileged.npos) << privileged;
  expect_part(
      privileged,
      "may write the folder " + open.string() +
          " (chmod o-w it); a process with more rights than its user loads nothing from there");
}

TEST(PluginThreads, ManyLoadAtOnceBesideOneThatFinds) {
  load_pack1();
  Folder folder;
  std::vector<std::filesystem::path> libraries;
  for (int i = 0; i < 6; ++i) libraries.push_back(folder.place("pack" + std::to_string(19 + i)));
  std::atomic<bool> done{false};
  std::atomic<int> found{0};
  std::thread finder([&] {
    while (!done) {
      const Op* op = find_op("pack1.twice");
      ASSERT_NE(op, nullptr);
      op->kernels.find(TN_DEVICE_CPU);
      found += op->schema.arguments.size() == 1;
      for (int i = 0; i < 6; ++i) {  // whole or not at all
        const std::string pack = "pack" + std::to_string(19 + i);
        if (find_op(pack + ".twice_") != nullptr) {
          ASSERT_NE(find_op(pack + ".twice"), nullptr);
        }
      }
    }
  });
  std::vector<std::thread> loaders;
  for (int t = 0; t < 8; ++t) {
    loaders.emplace_back([&, t] {
      for (size_t i = 0; i < libraries.size(); ++i) {
        EXPECT_EQ(load(libraries[(i + t) % libraries.size()]), "");
        plugins_json();
        ops_json();
      }
    });
  }
  for (std::thread& thread : loaders) thread.join();
  done = true;
  finder.join();
  EXPECT_GT(found, 0);
  for (const auto& library : libraries) {
    EXPECT_EQ(record_of(library).state, PluginState::kLoaded);
  }
}

TEST(PluginListing, SaysWhatPluginsBroughtAndWhyNot) {
  Folder folder;
  const auto library = folder.place("pack8"), broken = folder.place("no_manifest");
  ASSERT_EQ(load_folders(folder.path()), "");
  const auto document = nlohmann::json::parse(plugins_json());
  const auto entry = [&](const std::string& file) {
    for (const auto& plugin : document["plugins"]) {
      if (plugin["from"] == file) return plugin;
    }
    return nlohmann::json();
  };
  const auto good = entry(library.string()), bad = entry(broken.string());
  EXPECT_EQ(good["id"], "pack8");
  EXPECT_EQ(good["version"], "1.2.0");
  EXPECT_EQ(good["abi"], "0.2");
  EXPECT_EQ(good["description"], "small");
  EXPECT_EQ(good["state"], "loaded");
  EXPECT_EQ(good["brings"]["ops"], 2);
  EXPECT_EQ(bad["state"], "failed");
  EXPECT_EQ(bad["reason"],
            "symbol 'tenon_manifest' is missing: a plugin exports it (plugin.map in the sdk)");
  EXPECT_EQ(document["searched"][0], folder.path().string());
}

TEST(PluginListing, SaysWhatOpsAre) {
  Folder folder;
  ASSERT_EQ(load(folder.place("pack9")), "");
  for (const auto& op : nlohmann::json::parse(ops_json())) {
    if (op["name"] != "pack9.twice") continue;
    EXPECT_EQ(op["schema"], "twice(Tensor x) -> Tensor");
    EXPECT_EQ(op["kind"], "expression");
    EXPECT_EQ(op["amp"], "widest");
    EXPECT_EQ(op["gradient"], "derived");
    EXPECT_EQ(op["flags"], nlohmann::json({"inplace"}));
    EXPECT_EQ(op["kernels"], nlohmann::json::array());
    EXPECT_EQ(op["plugin"], "pack9");
    return;
  }
  FAIL() << "pack9.twice is not listed";
}

}  // namespace
}  // namespace tenon
