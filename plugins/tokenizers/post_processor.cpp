#include "post_processor.h"

#include <algorithm>

namespace tenon::tokenizers {
namespace {

using files::printable;
using TemplateParts = std::vector<TemplatePart>;

constexpr size_t kMostAdded = 4096;
constexpr char kPostProcessorTypes[] =
    "Sequence, TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel";

// ["[SEP]", 102]
Ids read_pair(Fields* fields, const char* name) {
  const nlohmann::json& value = fields->value(name);
  if (!value.is_array() || value.size() != 2 || !value[0].is_string() ||
      !value[1].is_number_unsigned() || value[1].get<uint64_t>() > INT32_MAX) {
    fields->refuse("{} is expected as [token, id]", name);
  }
  return {value[1].get<int64_t>()};
}

PostProcessor read_bert_post_processor(Fields* fields) {
  const Ids sep = read_pair(fields, "sep"), cls = read_pair(fields, "cls");
  return {{{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}},
          {{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}, {1, {}, 1}, {-1, sep, 1}}};
}

PostProcessor read_roberta(Fields* fields) {
  const Ids sep = read_pair(fields, "sep"), cls = read_pair(fields, "cls");
  fields->flag("trim_offsets", true);  // of places in the text, which are not given here
  fields->flag("add_prefix_space", true);
  return {{{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}},
          {{-1, cls, 0}, {0, {}, 0}, {-1, sep, 0}, {-1, sep, 0}, {1, {}, 0}, {-1, sep, 0}}};
}

TemplatePart read_text(Fields fields) {
  TemplatePart part;
  const std::string name = fields.text("id");
  if (name != "A" && name != "B") {
    fields.refuse("the sequence '{}' is not supported; there are A and B", printable(name));
  }
  part.text = name == "A" ? 0 : 1;
  part.type = fields.number("type_id", 0, INT32_MAX);
  fields.finish();
  return part;
}

TemplatePart read_special(Fields fields, Fields specials) {
  TemplatePart part;
  Fields special = specials.object(fields.text("id"));
  special.skip("id");
  special.skip("tokens");
  part.ids = special.numbers("ids", 0, INT32_MAX);
  special.finish();
  part.type = fields.number("type_id", 0, INT32_MAX);
  fields.finish();
  return part;
}

TemplateParts read_parts(Fields* fields, const char* name, int texts) {
  const Fields specials = fields->object("special_tokens");
  TemplateParts parts;
  size_t added = 0;
  for (Fields& item : fields->objects(name)) {
    parts.push_back(item.has("Sequence") ? read_text(item.object("Sequence"))
                                         : read_special(item.object("SpecialToken"), specials));
    item.finish();
    added += parts.back().ids.size();
    if (added > kMostAdded) fields->refuse("{} adds more than {} tokens", name, kMostAdded);
  }
  for (int text = 0; text < 2; ++text) {
    if (std::ranges::count(parts, text, &TemplatePart::text) != (text < texts ? 1 : 0)) {
      fields->refuse("{} is expected to have {}", name,
                     texts == 1 ? "A once, and no B" : "A and B once each");
    }
  }
  return parts;
}

PostProcessor read_template(Fields* fields) {
  return {read_parts(fields, "single", 1), read_parts(fields, "pair", 2)};
}

PostProcessor read_post_processor_sequence(Fields* fields) {
  PostProcessor found;
  bool is_found = false;
  for (Fields& item : fields->objects("processors")) {
    const bool plain = item.type() == "ByteLevel";
    const PostProcessor one = read_post_processor(item);
    if (plain) continue;
    if (is_found) item.refuse("a second processor that adds tokens is not supported");
    found = one;
    is_found = true;
  }
  return found;
}

PostProcessor read_post_processor_by_type(Fields* fields) {
  const std::string type = fields->type();
  if (type == "Sequence") return read_post_processor_sequence(fields);
  if (type == "TemplateProcessing") return read_template(fields);
  if (type == "BertProcessing") return read_bert_post_processor(fields);
  if (type == "RobertaProcessing") return read_roberta(fields);
  if (type == "ByteLevel") {  // which changes places in the text alone
    for (const char* name : {"add_prefix_space", "trim_offsets", "use_regex"}) fields->skip(name);
    return {};
  }
  fields->refuse_type(type, kPostProcessorTypes);
}

}  // namespace

PostProcessor read_post_processor(Fields fields) {
  PostProcessor processor = read_post_processor_by_type(&fields);
  fields.finish();
  return processor;
}

size_t PostProcessor::added(bool is_pair) const {
  size_t n = 0;
  for (const TemplatePart& part : is_pair ? pair : single) n += part.ids.size();
  return n;
}

Encoding PostProcessor::apply(const Ids& first, const Ids* second, bool adds) const {
  Encoding out;
  for (const TemplatePart& part : second ? pair : single) {
    if (part.text < 0 && !adds) continue;
    const Ids& ids = part.text < 0 ? part.ids : part.text == 0 ? first : *second;
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    out.types.resize(out.ids.size(), part.type);
  }
  return out;
}

}  // namespace tenon::tokenizers
