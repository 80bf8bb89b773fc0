// What the real NVRTC makes of kernel texts, looked at more closely: registers, shared memory and
// occupancy of chosen kernels, held against tests/cuda/golden/registers.txt where NVRTC is of the
// version that the table was written with (TENON_UPDATE_GOLDEN=1 writes it anew), and PTX where it
// decides. The default form compares the kernels whose texts are those of the table, each on one of the
// three architectures in turn, and reads the PTX of every 16th text; the long form wants a whole table,
// and reads all.
#include <cuda_occupancy.h>

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "long_form.h"
#include "nvrtc_support.h"

namespace {

using nvrtc::Compiler;
using std::string;

bool has(const string& text, const string& part) { return text.find(part) != string::npos; }

// ---- Which kernels

struct Chosen {
  string name, text;
};

// The shortest text that has all the parts; among equals, the first.
const string* shortest(const std::vector<string>& texts, const std::vector<string>& parts,
                       const std::vector<string>& without = {}) {
  const string* best = nullptr;
  for (const string& text : texts) {
    const auto in = [&](const string& part) { return has(text, part); };
    if (!std::all_of(parts.begin(), parts.end(), in)) continue;
    if (std::any_of(without.begin(), without.end(), in)) continue;
    if (!best || text.size() < best->size()) best = &text;
  }
  return best;
}

// Programs that most models have; their texts are found by what they compute.
std::vector<Chosen> typical_programs(const std::vector<string>& texts) {
  struct Wanted {
    const char* name;
    std::vector<string> parts, without;
  };
  const Wanted wanted[] = {
      {"a + b, dense", {"Pack<float, 4>", "v0 + v1"}, {"double"}},
      {"a + b, dense, bfloat16", {"Pack<BFloat, 8>", "v0 + v1"}, {"Pack<float"}},
      {"a + b, strided", {"elementwise", "o.at[2]", "v0 + v1", "P = Loop<int, 3, 4"}, {"double"}},
      {"a + b, strided, many dimensions", {"o.at[2]", "P = Loop<int, 3, 16"}, {"double"}},
      {"exp", {"Pack<float, 4>", "i_exp("}, {"double", "i_log"}},
      {"erf, as in gelu", {"Pack<float, 4>", "i_erf("}, {"double"}},
      {"tanh", {"Pack<float, 4>", "i_tanh("}, {"double"}},
      {"pow", {"Pack<float, 4>", "i_pow("}, {"double"}},
      {"sin, which reduces its argument", {"Pack<float, 4>", "i_sin("}, {"double"}},
      {"log1p and exp, as in softplus", {"Pack<float, 4>", "i_log1p(", "i_exp("}, {"double"}},
      {"where", {"Pack<float, 4>", " ? "}, {"double"}},
      {"integers, floor division", {"long long, 2>", "i_floordiv("}, {"float", "double"}},
      {"doubles", {"Pack<double, 2>", "v0 * v1"}, {}},
      {"sum", {"reduce_groups", "kSum", "Value = float", "at<float>"}, {"prologue"}},
      {"sum of bfloat16", {"reduce_groups", "kSum", "at<BFloat>"}, {"prologue"}},
      {"sum with a prologue", {"reduce_groups", "kSum", "Value = float", "prologue"}, {"double"}},
      {"maximum", {"reduce_groups", "kMax", "Value = float"}, {"prologue"}},
      {"argmax", {"reduce_groups", "kArgMax", "Value = float"}, {"prologue"}},
      {"sum of integers", {"reduce_groups", "kSum", "Value = long long"}, {"prologue"}},
      {"sum of columns", {"reduce_outputs", "kSum", "Value = float", "at<float>"}, {"prologue"}},
      {"sum of columns, bfloat16", {"reduce_outputs", "kSum", "at<BFloat>"}, {"prologue"}},
      {"argmin of columns", {"reduce_outputs", "kArgMin", "Value = float"}, {"prologue"}},
  };
  std::vector<Chosen> chosen;
  for (const Wanted& w : wanted) {
    const string* text = shortest(texts, w.parts, w.without);
    EXPECT_NE(text, nullptr) << w.name;
    if (text) chosen.push_back({w.name, *text});
  }
  return chosen;
}

// The lines that tell one text of a hand-written kernel from another, in one.
string in_one_line(const string& text) {
  static const std::regex boilerplate("#include \"(base|instructions)\\.cuh\"\\n"),
      words("#include \"(.*)\"|#define |using |static constexpr |constexpr |;");
  const string rest = std::regex_replace(std::regex_replace(text, boilerplate, ""), words, "$1");
  return std::regex_replace(rest.substr(0, rest.size() - 1), std::regex("\\n"), ", ");
}

// Of each header of kernels/, with each macro that its texts define, one text of float and one of
// bfloat16. Texts with a function are programs.
std::vector<Chosen> hand_written(const std::vector<string>& texts) {
  static const std::regex kind("#(include|define) .*");
  std::map<string, std::vector<string>> groups;
  for (const string& text : texts) {
    if (has(text, "DEVICE") || has(text, "KERNEL(")) continue;
    string group;
    for (std::sregex_iterator i(text.begin(), text.end(), kind), end; i != end; ++i)
      group += i->str();
    groups[group].push_back(text);
  }
  std::vector<Chosen> chosen;
  for (const auto& [group, its_texts] : groups) {
    std::set<const string*> found = {shortest(its_texts, {"float"}, {"double"}),
                                     shortest(its_texts, {"BFloat"}, {"double"})};
    found.erase(nullptr);
    if (found.empty()) found.insert(shortest(its_texts, {}));
    for (const string* text : found) chosen.push_back({in_one_line(*text), *text});
  }
  return chosen;
}

// ---- The table

// In percent, for blocks of 256 threads, as NVIDIA's own header computes it.
int occupancy(const string& architecture, const nvrtc::Kernel& kernel) {
  const bool is_80 = architecture == "80";
  cudaOccDeviceProp device;
  device.computeMajor = std::stoi(architecture) / 10;
  device.computeMinor = std::stoi(architecture) % 10;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = 2048;
  device.regsPerBlock = device.regsPerMultiprocessor = 64 << 10;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = (is_80 ? 164 : 228) << 10;
  device.sharedMemPerBlockOptin = (is_80 ? 163 : 227) << 10;
  device.reservedSharedMemPerBlock = 1 << 10;
  device.numSms = 100;
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 256;
  function.numRegs = kernel.registers;
  function.sharedSizeBytes = static_cast<size_t>(kernel.shared);
  const cudaOccDeviceState state;
  cudaOccResult result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, 256, 0) !=
      CUDA_OCC_SUCCESS)
    return -1;
  return result.activeBlocksPerMultiprocessor * 256 * 100 / 2048;
}

// FNV-1a: which text a row is of.
string digits_of(const string& text) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

// Of each kernel, "name: entry | text", its numbers on an architecture.
std::map<string, string> numbers_of(const Compiler& compiler, const Chosen& chosen,
                                    const string& architecture) {
  std::map<string, string> numbers;
  const nvrtc::Outcome outcome = compiler.compile(chosen.text, architecture);
  EXPECT_TRUE(outcome.is_compiled) << outcome.log;
  for (const nvrtc::Kernel& kernel : outcome.kernels()) {
    numbers[chosen.name + ": " + kernel.name + " | " + digits_of(chosen.text)] =
        std::to_string(kernel.registers) + " " + std::to_string(kernel.shared) + " " +
        std::to_string(occupancy(architecture, kernel)) + "%";
  }
  return numbers;
}

// The rows of a table by "name: entry | text", each with its numbers for the three architectures.
std::map<string, std::vector<string>> rows_of(const string& table) {
  std::map<string, std::vector<string>> rows;
  static const std::regex row("(.*) \\| (.*%) \\| (.*%) \\| (.*%)");
  std::istringstream lines(table);
  std::smatch match;
  for (string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, row)) rows[match[1]] = {match[2], match[3], match[4]};
  }
  return rows;
}

constexpr char kHead[] =
    "# The text, by its digits; registers of a thread, bytes of shared memory of a block, and\n"
    "# occupancy with blocks of 256 threads, on sm_80, sm_90 and sm_100. cuda_registers_test "
    "writes\n"
    "# it with TENON_UPDATE_GOLDEN=1.\n"
    "NVRTC ";

string table_file() { return (nvrtc::source() / "tests/cuda/golden/registers.txt").string(); }

TEST(CudaRegisters, AreThoseOfTheTable) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const std::vector<string> texts = nvrtc::kept_texts();
  std::vector<Chosen> chosen = typical_programs(texts);
  const bool updates = std::getenv("TENON_UPDATE_GOLDEN") != nullptr;
  const string head = kHead + compiler.version() + "\n", table = nvrtc::read(table_file());
  if (!updates && !has(table, head)) GTEST_SKIP() << "the table is of another NVRTC";
  for (Chosen& one : hand_written(texts)) chosen.push_back(std::move(one));
  const auto rows = rows_of(table);
  const bool whole = updates || long_form();
  string text = head;
  for (size_t k = 0; k < chosen.size(); ++k) {
    if (!whole && !has(table, " | " + digits_of(chosen[k].text) + " | ")) continue;
    std::map<string, string> lines;
    for (size_t a = 0; a < 3; ++a) {
      if (!whole && k % 3 != a) continue;
      const char* const architecture = nvrtc::kArchitectures[a];
      for (const auto& [name, numbers] : numbers_of(compiler, chosen[k], architecture)) {
        lines[name] += " | " + numbers;
        const auto row = rows.find(name);
        EXPECT_TRUE(updates || (row != rows.end() && row->second[a] == numbers))
            << name << " | " << numbers << " on sm_" << architecture
            << ": the table has other numbers, or lacks it. If that is meant, run this test with "
            << "TENON_UPDATE_GOLDEN=1";
      }
    }
    for (const auto& [name, numbers] : lines) text += name + numbers + "\n";
  }
  if (updates) std::ofstream(table_file()) << text;
  if (whole) {
    EXPECT_EQ(nvrtc::read(table_file()), text);
  }
}

// ---- PTX

int count(const string& text, const std::regex& pattern) {
  return static_cast<int>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), pattern), {}));
}

const std::regex kLoad("ld\\.global(\\.nc)?\\.(v4\\.[bfsu]32|v2\\.[bfsu]64)"),
    kStore("st\\.global\\.(v4\\.[bfsu]32|v2\\.[bfsu]64)");  // of 16 bytes

int bytes_of(const string& element) {
  static const std::map<string, int> kSizes = {
      {"float", 4}, {"double", 8},   {"long long", 8},   {"unsigned long long", 8},
      {"int", 4},   {"unsigned", 4}, {"short", 2},       {"unsigned short", 2},
      {"Half", 2},  {"BFloat", 2},   {"signed char", 1}, {"unsigned char", 1},
      {"Bool", 1}};
  return kSizes.at(element);
}

// Of the packs of 16 bytes that a dense text names, how many are stored, and how many are loaded and
// used by the program?
struct Packs {
  int loads = 0, stores = 0;

  explicit Packs(const string& text) {
    static const std::regex pack(
        "at<Pack<([\\w ]+), ([0-9]+)>>\\(loop\\.data\\[([0-9]+)\\], g\\)( =)?");
    const int outputs = count(text.substr(0, text.find(") {")), std::regex("& y[0-9]"));
    for (std::sregex_iterator i(text.begin(), text.end(), pack), end; i != end; ++i) {
      if (bytes_of((*i)[1]) * std::stoi((*i)[2]) != 16) continue;
      const string read = "widen(x" + std::to_string(std::stoi((*i)[3]) - outputs) + ")";
      (*i)[4].matched ? ++stores : loads += has(text, read);
    }
  }
};

TEST(CudaPtx, ReadsAndWrites16BytesAtOnce) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  std::vector<string> texts = nvrtc::kept_texts();
  std::erase_if(texts, [](const string& text) { return !has(text, "at<Pack<"); });
  EXPECT_GT(texts.size(), 300u);
  int loads = 0;
  for (size_t k = 0; k < texts.size(); k += long_form() ? 1 : 16) {
    const Packs packs(texts[k]);
    const string ptx = compiler.compile(texts[k], "80", true).ptx;
    // Of x - x, of integers, nothing is read.
    EXPECT_TRUE(count(ptx, kLoad) >= packs.loads || !has(ptx, "ld.global")) << texts[k] << ptx;
    EXPECT_GE(count(ptx, kStore), packs.stores) << texts[k] << ptx;
    loads += packs.loads;
  }
  EXPECT_GT(loads, 20);
}

// The PTX of one kernel.
string entry_of(const string& ptx, const string& name) {
  const size_t begin = ptx.find(".entry " + name + "(");
  return begin == string::npos ? "" : ptx.substr(begin, ptx.find(".entry ", begin + 1) - begin);
}

// What stands behind `using name = `.
string type_of(const string& text, const string& name) {
  const size_t begin = text.find("using " + name + " = ") + 9 + name.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

// Where one type is narrower than the other, its packs are shorter.
TEST(CudaPtx, CastsAndFillsTouch16BytesAtOnce) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  int copies = 0, fills = 0;
  for (const string& text : nvrtc::kept_texts()) {
    const bool is_copy = has(text, "#define COPY\n"), is_fill = has(text, "#define FILL\n");
    if (!is_copy && !is_fill) continue;
    const int number = is_copy ? copies++ : fills++;
    if (is_copy && !long_form() && number % 8 != 0) continue;
    const string ptx = compiler.compile(text, "80", true).ptx;
    if (is_fill) {
      EXPECT_GE(count(entry_of(ptx, "fill_packs"), kStore), 1) << text << ptx;
      continue;
    }
    const int from = bytes_of(type_of(text, "From")), to = bytes_of(type_of(text, "To"));
    const string entry = entry_of(ptx, "copy_packs");
    EXPECT_TRUE(from < to || count(entry, kLoad) >= 1) << text << ptx;
    EXPECT_TRUE(to < from || count(entry, kStore) >= 1) << text << ptx;
  }
  EXPECT_GT(copies, 50);
  EXPECT_GE(fills, 4);
}

// Groups of eight values of an output, or of neighbouring outputs; those of one byte are read eight at once.
TEST(CudaPtx, ReductionsOfDenseRowsAndColumnsRead16BytesAtOnce) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const std::regex group("= read_group<([\\w ]+)>\\(p, o, ([0-9]+)\\)");
  std::vector<string> texts = nvrtc::kept_texts();
  std::erase_if(texts, [](const string& text) { return !has(text, "\"reduce.cuh\""); });
  const auto in_columns = [](const string& text) { return has(text, "reduce_outputs"); };
  std::stable_partition(texts.begin(), texts.end(), in_columns);
  int loads = 0, columns = 0;
  for (size_t k = 0; k < texts.size(); k += long_form() ? 1 : in_columns(texts[k]) ? 2 : 8) {
    const string& text = texts[k];
    const char* kernel = in_columns(text) ? "reduce_outputs" : "reduce_groups";
    int wanted = 0;
    for (std::sregex_iterator i(text.begin(), text.end(), group), end; i != end; ++i) {
      const bool is_used = !has(text, "prologue(const") ||
                           has(text, "widen(x" + std::to_string(std::stoi((*i)[2]) - 1) + ")");
      wanted += is_used ? bytes_of((*i)[1]) * 8 / 16 : 0;
    }
    const string ptx = compiler.compile(text, "80", true).ptx;
    EXPECT_GE(count(entry_of(ptx, kernel), kLoad), wanted) << text << ptx;
    loads += wanted;
    columns += in_columns(text) ? wanted : 0;
  }
  EXPECT_GT(loads, 20);
  EXPECT_GT(columns, 4);
}

// Groups of eight values of a row, forwards and backwards; those of one byte eight at once.
TEST(CudaPtx, ScansTouch16BytesAtOnce) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  int scans = 0;
  for (const string& text : nvrtc::kept_texts()) {
    if (!has(text, "\"scan.cuh\"") || (scans++ % 4 != 0 && !long_form())) continue;
    const int packs = bytes_of(type_of(text, "Element")) * 8 / 16;
    const string ptx = compiler.compile(text, "80", true).ptx;
    EXPECT_GE(count(entry_of(ptx, "scan"), kLoad), packs) << text << ptx;
    EXPECT_GE(count(entry_of(ptx, "scan"), kStore), packs) << text << ptx;
    EXPECT_GE(count(entry_of(ptx, "fold_pieces"), kLoad), packs) << text << ptx;
  }
  EXPECT_GT(scans, 8);
}

// Groups of eight values and of eight indices of what is merged; those of one byte eight at once.
TEST(CudaPtx, MergesWrite16BytesAtOnce) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  int sorts = 0;
  for (const string& text : nvrtc::kept_texts()) {
    if (!has(text, "\"sort.cuh\"") || (sorts++ % 4 != 0 && !long_form())) continue;
    const int packs = bytes_of(type_of(text, "Element")) * 8 / 16 + 8 * 8 / 16;
    const string ptx = compiler.compile(text, "80", true).ptx;
    EXPECT_GE(count(entry_of(ptx, "merge_runs"), kStore), packs) << text << ptx;
  }
  EXPECT_GT(sorts, 8);
}

// The first line in which a text of floats computes with doubles. Two entries are meant to beside their
// elements, and may call functions: a `step` that counts finds what is one number for a parameter before
// its threads meet (rare cases of pow lie behind its end), and the last block of `fold_chunks` what all
// chunks make behind that.
string computes_with_doubles(const string& ptx) {
  static const std::regex arithmetic(
      "^\\s*(@\\S+ )?(add|sub|mul|div|fma|mad|sqrt|rcp|rsqrt)\\.[\\w.]*f64");
  const bool counts = has(ptx, ".entry step(") && has(ptx, "bar.sync");
  const bool folds = has(ptx, ".entry fold_chunks(");
  bool is_exempt = false;
  std::istringstream lines(ptx);
  for (string line; std::getline(lines, line);) {
    if (has(line, ".entry ")) is_exempt = counts;
    if (has(line, "bar.sync")) is_exempt = folds;
    if (has(line, "ret;") || has(line, ".func ")) is_exempt = counts || folds;
    if (!is_exempt && std::regex_search(line, arithmetic)) return line;
  }
  return "";
}

// But for the reduction of an argument of sin, cos and tan, which is NVIDIA's.
TEST(CudaPtx, FloatsAreNotComputedAsDoubles) {
  const Compiler compiler;
  if (!compiler.is_here()) GTEST_SKIP() << "libnvrtc.so.13 is not here";
  const std::regex reduces("i_(sin|cos|tan)\\(");
  std::vector<string> texts = nvrtc::kept_texts();
  std::erase_if(texts, [&](const string& text) {
    return has(text, "double") || std::regex_search(text, reduces);
  });
  EXPECT_GT(texts.size(), 500u);
  for (size_t k = 0; k < texts.size(); k += long_form() ? 1 : 16) {
    const string ptx = compiler.compile(texts[k], "90", true).ptx;
    EXPECT_FALSE(ptx.empty()) << texts[k];
    EXPECT_EQ(computes_with_doubles(ptx), "") << texts[k];
  }
}

}  // namespace
