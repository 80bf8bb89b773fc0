// tenon ops: every op, and how it would run on a device.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "plugin_list.h"
#include "process.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using OrderedJson = nlohmann::ordered_json;

// How a call on a device of this type would run: the kernels that are asked first, then what the op
// is without one.
std::string runs_as(const OrderedJson& op, const std::string& type) {
  std::vector<std::string> ways;
  for (const OrderedJson& kernel : op.at("kernels")) {
    if (kernel.at("device") != type) continue;
    ways.push_back(fmt::format("{} of {}", kernel.at("pair") == true ? "pair" : "kernel",
                               kernel.at("plugin").get<std::string>()));
  }
  const std::string kind = op.at("kind");
  if (kind == "expression") {
    ways.push_back("program");
  } else if (kind == "primitive") {
    ways.push_back("primitive " + op.at("primitive").get<std::string>());
  } else if (kind == "view") {
    ways.push_back("view");
  } else if (kind == "decomposition") {
    ways.push_back("decomposed");
  } else if (ways.empty()) {
    const OrderedJson& flags = op.at("flags");
    const bool library = std::ranges::find(flags, "library") != flags.end();
    ways.push_back(library ? "absent (library)" : "absent");
  }
  return joined(ways, ", else ");
}

std::vector<std::string> names_of(const OrderedJson& list) {
  std::vector<std::string> names;
  for (const OrderedJson& entry : list) names.push_back(entry.at("name"));
  return names;
}

// Where a kernel of the op is, and how the op runs on devices that have none.
std::string kernels_text(const OrderedJson& op) {
  std::string text;
  for (const OrderedJson& kernel : op.at("kernels")) {
    const OrderedJson& dtypes = kernel.at("dtypes");
    text += fmt::format(
        "  {}: {} of {}, priority {}, {}\n", kernel.at("device").get<std::string>(),
        kernel.at("pair") == true ? "kernel with its backward" : "kernel",
        kernel.at("plugin").get<std::string>(), kernel.at("priority").get<int64_t>(),
        dtypes.is_string() ? "any dtype" : joined(dtypes.get<std::vector<std::string>>()));
  }
  return text + fmt::format("  elsewhere: {}\n", runs_as(op, ""));
}

// Lines below each other.
std::string formula_text(const std::string& formula) {
  std::string text = "formula   ";
  for (const char c : formula) text += c == '\n' ? "\n          " : std::string(1, c);
  return text + "\n";
}

// All there is to say of one op.
std::string described(const OrderedJson& op) {
  std::string text = fmt::format("{}\n", op.at("schema").get<std::string>());
  if (const std::string doc = op.at("doc"); !doc.empty()) text += doc + "\n";
  text += fmt::format("\nname      {}\nplugin    {}\n", op.at("name").get<std::string>(),
                      op.at("plugin").get<std::string>());
  if (op.contains("text")) text += formula_text(op.at("text"));
  text += fmt::format("gradient  {}\nautocast  {}\n", op.at("gradient").get<std::string>(),
                      op.at("amp").get<std::string>());
  const auto flags = op.at("flags").get<std::vector<std::string>>();
  if (!flags.empty()) text += fmt::format("flags     {}\n", joined(flags));
  return text + "kernels\n" + kernels_text(op);
}

// One op, or a layer or an optimizer, by its name; an op of the standard pack also without "ops.".
std::string described(const std::string& name, const OrderedJson& ops) {
  for (const OrderedJson& op : ops) {
    if (op.at("name") == name || op.at("name") == "ops." + name) return described(op);
  }
  const OrderedJson factories = OrderedJson::parse(plugins_json()).at("factories");
  for (const OrderedJson& factory : factories) {
    if (factory.at("name") != name) continue;
    return fmt::format(
        "{}\n{}\n\nplugin    {}\nkind      {}\n", factory.at("schema").get<std::string>(),
        factory.at("doc").get<std::string>(), factory.at("plugin").get<std::string>(),
        factory.at("kind").get<std::string>());
  }
  std::vector<std::string> names = names_of(ops);
  for (std::string& known : names) {
    if (known.starts_with("ops.")) known.erase(0, 4);
  }
  for (std::string& known : names_of(factories)) names.push_back(std::move(known));
  throw UsageError(fmt::format("ops: no op, layer or optimizer is named '{}'{}", printable(name),
                               did_you_mean(name, names)));
}

// How it gets its gradient, as the page says it: pairs of `cpu` alone count, since other devices are
// not there on every machine that writes the page.
std::string gradient_of(const OrderedJson& op) {
  const std::string gradient = op.at("gradient");
  if (gradient != "pair" || op.at("kind") != "decomposition") return gradient;
  for (const OrderedJson& kernel : op.at("kernels")) {
    if (kernel.at("device") == "cpu" && kernel.at("pair") == true) return gradient;
  }
  return "decomposition";
}

// A page of all that the ops, layers and optimizers say of themselves, by plugin and group.
std::string markdown(const OrderedJson& ops) {
  std::string text =
      "# Ops, layers and optimizers\n\nWhat the bundled plugins bring, as they say it themselves: "
      "`tenon ops --markdown` writes this page.\n`tenon ops NAME` adds the formula and the kernels "
      "of a device.\n";
  std::string section;
  const auto entry = [&](const OrderedJson& e, const std::string& kind, const std::string& name) {
    if (name.starts_with('_')) return;
    const std::string group = e.at("group"), title = kind + (group.empty() ? "" : ": " + group);
    if (title != section) text += fmt::format("\n## {}\n", section = title);
    text += fmt::format("\n`{}`\n", e.at("schema").get<std::string>());
    if (const std::string doc = e.at("doc"); !doc.empty()) text += "\n" + doc + "\n";
    if (!e.contains("gradient")) return;
    text += fmt::format("\nGradient: {}. Autocast: {}.\n", gradient_of(e),
                        e.at("amp").get<std::string>());
  };
  for (const OrderedJson& op : ops) {
    const std::string name = op.at("name"), plugin = op.at("plugin");
    entry(op, "Ops of the plugin `" + plugin + "`", name.substr(plugin.size() + 1));
  }
  const OrderedJson list = OrderedJson::parse(plugins_json());
  for (const OrderedJson& factory : list.at("factories")) {
    const std::string plugin = factory.at("plugin");
    const bool is_optimizer = factory.at("kind") == "optimizer";
    entry(factory,
          (is_optimizer ? "Optimizers of the plugin `" : "Layers of the plugin `") + plugin + "`",
          factory.at("name"));
  }
  return text;
}

// A page with the class of each op under autocast, by plugin and group.
std::string autocast_page(const OrderedJson& ops) {
  const std::vector<std::string> classes = {"lower", "float32", "widest", "none"};
  std::string text =
      "# Autocast: the class of each op\n\n"
      "What an op computes in under autocast, as the bundled plugins say it themselves: `tenon ops "
      "--autocast` writes this page.\n\n"
      "- `lower`: in the lower precision, float16 or bfloat16.\n"
      "- `float32`: in float32.\n"
      "- `widest`: in the widest float dtype among its arguments.\n"
      "- `none`: in what it is given. An op that is made of others expands to them, and each of "
      "these decides.\n\n"
      "float64 is never lowered. Policies change classes: "
      "[training.md](training.md#mixed-precision) "
      "has those there are.\n";
  std::string section;
  for (const OrderedJson& op : ops) {
    const std::string name = op.at("name"), plugin = op.at("plugin"), group = op.at("group");
    const std::string own = name.substr(plugin.size() + 1);
    if (own.starts_with('_')) continue;
    const std::string title =
        "Ops of the plugin `" + plugin + "`" + (group.empty() ? "" : ": " + group);
    if (title != section) {
      text += fmt::format("\n## {}\n\n| op | {} |\n|{}\n", section = title,
                          fmt::join(classes, " | "), " --- | --- | --- | --- | --- |");
    }
    text += fmt::format("| `{}` |", own);
    for (const std::string& one : classes) text += op.at("amp") == one ? " x |" : " |";
    text += "\n";
  }
  return text;
}

std::string as_json(const OrderedJson& ops, const std::string& type) {
  OrderedJson list = OrderedJson::array();
  for (OrderedJson op : ops) {
    op["device"] = type;
    op["runs_as"] = runs_as(op, type);
    list.push_back(std::move(op));
  }
  return list.dump(2) + "\n";
}

int run_ops(const Line& line) {
  std::vector<std::string> forms;
  if (line.has("NAME")) forms.emplace_back("NAME");
  for (const char* form : {"json", "markdown", "autocast"})
    if (line.flag(form)) forms.push_back(fmt::format("--{}", form));
  if (forms.size() > 1)
    throw UsageError(fmt::format("{} are there, expected one of them", joined(forms, " and ")));
  load_all_plugins();
  const std::string type = find_device(line.get("device")).type();
  const OrderedJson ops = OrderedJson::parse(ops_json());
  if (line.has("NAME")) {
    fmt::print("{}", described(line.get("NAME"), ops));
    return 0;
  }
  if (line.flag("autocast")) {
    fmt::print("{}", autocast_page(ops));
    return 0;
  }
  if (line.flag("json") || line.flag("markdown")) {
    fmt::print("{}", line.flag("json") ? as_json(ops, type) : markdown(ops));
    return 0;
  }
  Table table({"op", "on " + type, "gradient", "autocast", "schema"});
  for (const OrderedJson& op : ops) {
    table.add({op.at("name"), runs_as(op, type), op.at("gradient"), op.at("amp"), op.at("schema")});
  }
  fmt::print("{}", table.text());
  for (const std::string& device : list_plugins().incomplete) {
    if (device.starts_with("device " + type + " ")) fmt::print("incomplete: {}\n", device);
  }
  return 0;
}

}  // namespace

Command ops_command() {
  Command command{
      "ops",
      "Lists the ops: how each would run on a device, its gradient, its class under autocast.",
      "[NAME]", "an op, a layer or an optimizer: all there is to say of it"};
  command.options.add_options()  //
      ("device", po::value<std::string>()->value_name("NAME")->default_value("cpu"),
       "of this device (tenon devices)")                                                       //
      ("json", po::bool_switch(), "as a JSON list")                                            //
      ("markdown", po::bool_switch(), "the page docs/ops.md, of the plugins that are loaded")  //
      ("autocast", po::bool_switch(),
       "the page docs/autocast.md, of the plugins that are loaded")  //
      ("help,h", "this text");
  command.run = run_ops;
  return command;
}

}  // namespace tenon::cli
