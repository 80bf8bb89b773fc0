// Every op and every layer with numbers from the ends of int64 in the place of each of its ints: an
// answer or an error, soon, within the memory that there is. Sanitizers see the sums and products
// that overflow on the way.
#include <cstdint>
#include <limits>
#include <map>
#include <regex>

#include "torch_cases.h"

namespace {

using namespace torch_cases;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> kExtremes = {
    kLeast,           kLeast + 1,       -(int64_t{1} << 32), -1,        0,    int64_t{1} << 32,
    int64_t{1} << 60, int64_t{1} << 62, kMost / 3,           kMost - 1, kMost};

// What does not fit is refused before the machine looks for pages.
class Limited {
 public:
  Limited() { tn::Device(tn::cpu).set_memory_limit(uint64_t{1} << 28); }
  ~Limited() { tn::Device(tn::cpu).set_memory_limit(0); }
};

// Those that have no case of PyTorch's values, since they draw or hold nothing yet.
std::vector<json> makers() {
  const json x = {{"s", {3}}, {"v", {1.0, 2.0, 3.0}}};
  std::vector<json> cases;
  const auto add = [&](const char* op, json args) {
    cases.push_back({{"op", op}, {"args", std::move(args)}, {"out", json::array({nullptr})}});
  };
  for (const char* op : {"empty", "zeros", "ones", "rand", "randn", "uniform"}) add(op, {{2, 3}});
  add("full", {{2}, 7});
  add("full_like", {x, 7});
  add("arange", {0, 5, 1});
  add("linspace", {0, 1, 3});
  add("eye", {3, 4});
  for (const char* op : {"tril_indices", "triu_indices"}) add(op, {3, 4, 0});
  add("randint", {0, 5, {2}});
  add("randint_like", {x, 0, 5});
  add("randperm", {5});
  add("multinomial", {x, 2, true});
  add("fill_", {x, 2});
  return cases;
}

// The case with one int, or each int of one list, replaced; all ints of the call at last.
std::vector<json> variants(const json& c, int64_t extreme) {
  std::vector<json> list;
  json all = c;
  for (size_t i = 0; i < c.at("args").size(); ++i) {
    const json& arg = c.at("args")[i];
    if (arg.is_number_integer()) {
      list.push_back(c);
      list.back()["args"][i] = extreme;
      all["args"][i] = extreme;
    }
    const bool ints = arg.is_array() && std::all_of(arg.begin(), arg.end(), [](const json& e) {
                        return e.is_number_integer();
                      });
    for (size_t k = 0; ints && k < arg.size(); ++k) {
      list.push_back(c);
      list.back()["args"][i][k] = extreme;
      all["args"][i][k] = extreme;
    }
  }
  if (list.size() > 1) list.push_back(all);
  return list;
}

void run(const json& c) {
  try {
    const Arguments arguments(c, tn::cpu);
    const TensorList outputs = called(c.at("op"), arguments.values, c.at("out"));
    if (!c.contains("grad")) return;
    for (const Tensor& t : outputs) {
      if (t.numel() > 1000) return;  // a view of great sizes
    }
    if (Tensor loss = weighed(outputs); loss.defined())
      tn::grad({loss}, arguments.leaves, {.allow_unused = true});
  } catch (const tn::Error& e) {
    EXPECT_STRNE(e.what(), "");
  }
}

TEST(Extremes, OfEveryOpEndInAnAnswerOrAnError) {
  load_all();
  const Limited memory;
  std::map<std::string, int> seen;
  std::vector<json> cases = makers();
  for (const json& c : all_cases()) cases.push_back(c);
  size_t calls = 0;
  for (const json& c : cases) {
    const std::string op = c.at("op");
    if (op.starts_with("_") || ++seen[op] > 8) continue;
    for (int64_t extreme : kExtremes) {
      for (const json& v : variants(c, extreme)) {
        SCOPED_TRACE(v.at("op").get<std::string>() + v.at("args").dump().substr(0, 200));
        run(v);
        ++calls;
      }
    }
  }
  EXPECT_GT(calls, 5000u);
}

// Shapes alone: tensors on `meta` of sizes times a factor, with an empty dimension in front or
// without; lists of ints times it or not.
TEST(Extremes, OfSizesEndInAShapeOrAnError) {
  load_all();
  const Limited memory;  // makers of tensors take no device from others
  std::map<std::string, int> seen;
  size_t shapes = 0;
  for (const json& c : all_cases()) {
    const std::string op = c.at("op");
    if (op.starts_with("_") || ++seen[op] > 3) continue;
    for (int bits : {16, 31, 58}) {
      for (bool empty : {false, true}) {
        for (bool lists : {false, true}) {
          const int64_t factor = int64_t{1} << bits;
          SCOPED_TRACE(op + c.at("args").dump().substr(0, 200) + " times " +
                       std::to_string(factor));
          json scaled = c;
          for (json& arg : scaled["args"]) {
            for (size_t k = 0; lists && arg.is_array() && k < arg.size(); ++k) {
              if (arg[k].is_number_integer() && arg[k].get<int64_t>() > 1 &&
                  arg[k].get<int64_t>() < 100)
                arg[k] = int64_t(uint64_t(arg[k].get<int64_t>()) * uint64_t(factor) >> 1);
            }
          }
          try {
            const Arguments arguments(scaled, tn::cpu, [&](const Tensor& t) {
              std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
              for (int64_t& size : sizes)
                size = size > 1 ? int64_t(uint64_t(size) * uint64_t(factor) >> 1) : size;
              if (empty && !sizes.empty()) sizes[0] = 0;
              return tn::empty(sizes, t.dtype(), tn::meta);
            });
            const TensorList outputs = called(op, arguments.values, c.at("out"));
            shapes += outputs.size();
          } catch (const tn::Error& e) {
            EXPECT_STRNE(e.what(), "");
          }
        }
      }
    }
  }
  EXPECT_GT(shapes, 500u);
}

struct Option {
  std::string type, name;
  bool required;
};
std::vector<Option> options_of(const std::string& schema) {
  static const std::regex one(R"((int|float|bool|str|int\[\]|float\[\])(\??) (\w+)(=)?)");
  std::vector<Option> list;
  for (std::sregex_iterator i(schema.begin(), schema.end(), one), end; i != end; ++i)
    list.push_back({(*i)[1], (*i)[3], (*i)[4].length() == 0});
  return list;
}

// A layer of these ints, called with all that it may take.
void make_and_call(const std::string& factory, const std::vector<Option>& options,
                   const std::string& replaced, int64_t extreme) {
  std::vector<const char*> names;
  std::vector<std::vector<int64_t>> lists;
  lists.reserve(options.size());
  std::vector<tn_value> values;
  for (const Option& o : options) {
    const bool here = replaced.empty() ? o.required : o.name == replaced;
    if (!here && !o.required) continue;
    const int64_t number = here ? extreme : 4;
    names.push_back(o.name.c_str());
    if (o.type == "int")
      values.push_back(tn::detail::to_value(number));
    else if (o.type == "float")
      values.push_back(tn::detail::to_value(0.5));
    else
      values.push_back(tn::detail::to_value(tn::Ints(lists.emplace_back(1, here ? extreme : 2))));
  }
  try {
    const tn::Object layer = tn::Object::create_named(factory.c_str(), names, values);
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{4, 4}, {2, 4, 4}, {2, 4, 4, 4}, {2, 4, 4, 4, 4}}) {
      const Tensor x = sample(sizes).to(tn::float32);
      try {
        factory == "MultiheadAttention" ? layer(x, x, x) : layer(x);
      } catch (const tn::Error& e) {
        EXPECT_STRNE(e.what(), "");
      }
    }
  } catch (const tn::Error& e) {
    EXPECT_STRNE(e.what(), "");
  }
}

TEST(Extremes, OfEveryLayerEndInAnAnswerOrAnError) {
  load_all();
  const Limited memory;
  size_t layers = 0;
  const json plugins = json::parse(tn::plugins_json());
  for (const json& f : plugins.at("factories")) {
    if (f.at("kind") != "layer") continue;
    const std::vector<Option> options = options_of(f.at("schema"));
    const auto is_made = [](const Option& o) {
      return !o.required || o.type == "int" || o.type == "float" || o.type == "int[]";
    };
    if (!std::all_of(options.begin(), options.end(), is_made)) continue;
    ++layers;
    for (const Option& o : options) {
      if (o.type != "int" && o.type != "int[]") continue;
      for (int64_t extreme : kExtremes) {
        SCOPED_TRACE(f.at("name").get<std::string>() + " " + o.name + " " +
                     std::to_string(extreme));
        make_and_call(f.at("name"), options, o.name, extreme);
      }
    }
    for (int64_t extreme : kExtremes) make_and_call(f.at("name"), options, "", extreme);
  }
  EXPECT_GT(layers, 40u);
}

}  // namespace
