// Tables in CSV as objects of the plugin `files`: columns of numbers, of classes, and of texts that
// become columns of 0 and 1. The face over them is data.hpp.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "csv.h"
#include "plugin_tensors.h"

namespace tenon::files {
namespace {

// A column of more texts than these is a name or a number of its row, and no category.
constexpr size_t kMostCategories = 1000;
constexpr float kMostFloat = std::numeric_limits<float>::max();

using Kind = CsvTable::Kind;

// The texts of a column and their numbers: at first in the order in which they were met, and then by
// their bytes.
struct Categories {
  std::map<std::string, int64_t> numbers;

  // Whether it is one that may be there: not one too many.
  bool add(const std::string& text, int64_t* number) {
    *number = numbers.try_emplace(text, static_cast<int64_t>(numbers.size())).first->second;
    return numbers.size() <= kMostCategories;
  }
  int64_t size() const { return static_cast<int64_t>(numbers.size()); }
  // The new number of each old one.
  std::vector<int64_t> sort() {
    std::vector<int64_t> sorted(numbers.size());
    int64_t place = 0;
    for (auto& [text, number] : numbers) sorted[static_cast<size_t>(number)] = place++;
    place = 0;
    for (auto& [text, number] : numbers) number = place++;
    return sorted;
  }
};

[[noreturn]] void refuse_text(const CsvTable& table, int64_t row, int64_t column, const char* of) {
  table.refuse(row, column,
               fmt::format("there are more than {} different texts up to here, expected at most "
                           "that in a column of {}",
                           kMostCategories, of));
}

std::vector<Kind> one_column(const CsvTable& table, int64_t column, Kind kind) {
  std::vector<Kind> kinds(static_cast<size_t>(table.columns()));
  kinds[static_cast<size_t>(column)] = kind;
  return kinds;
}

// The classes of a column of texts; `take` gets the number of each row's, in the order in which they
// were met.
Categories classes_of(const CsvTable& table, int64_t column,
                      const std::function<void(int64_t row, int64_t number)>& take) {
  Categories known;
  table.read({.kinds = one_column(table, column, Kind::kText),
              .text = [&](int64_t row, int64_t, const std::string& text) {
                if (CsvTable::is_missing(text)) {
                  table.refuse(
                      row, column,
                      fmt::format("'{}' stands for what is missing, expected the name of a "
                                  "class",
                                  printable(text)));
                }
                int64_t number = 0;
                if (!known.add(text, &number)) refuse_text(table, row, column, "classes");
                take(row, number);
              }});
  return known;
}

// A label that is missing is refused in either case.
bool has_texts(const CsvTable& table, int64_t column) {
  return !table.is_number(column) && !CsvTable::is_missing(table.first(column));
}

float as_float(const CsvTable& table, int64_t row, int64_t column, double value, double scale) {
  const auto scaled = static_cast<float>(value * scale);
  if (std::isfinite(scaled)) return scaled;
  if (scale == 1)
    table.refuse(row, column, fmt::format("{} is more than float32 holds ({})", value, kMostFloat));
  table.refuse(row, column,
               fmt::format("{} times the scale {} is more than float32 holds ({})", value, scale,
                           kMostFloat));
}

// A tensor [rows, columns] of what stands in each row of the file, in memory that is written in place.
template <typename T>
struct Rows {
  Rows(const std::string& path, const std::vector<int64_t>& sizes, Dtype dtype)
      : tensor(naming(path, [&] { return Tensor::empty(sizes, dtype); })),
        values(tensor.numel() == 0 ? nullptr : static_cast<T*>(data_of(tensor))),
        width(sizes.size() == 1 ? 1 : sizes[1]) {}
  T& at(int64_t row, int64_t column = 0) { return values[row * width + column]; }

  Tensor tensor;
  T* values;
  int64_t width;
};

// What is read of each column for the model.
std::vector<Kind> input_kinds(const std::string& path, const CsvTable& table,
                              const std::vector<int64_t>& skip,
                              const std::vector<int64_t>& one_hot) {
  std::vector<Kind> kinds(static_cast<size_t>(table.columns()), Kind::kNumber);
  for (const int64_t column : skip)
    kinds[static_cast<size_t>(table.column(column))] = Kind::kSkipped;
  for (const int64_t number : one_hot) {
    Kind& kind = kinds[static_cast<size_t>(table.column(number))];
    if (kind == Kind::kSkipped) {
      raise(
          TN_INVALID_ARGUMENT,
          "{}: column {} is among those of `one_hot`, and also the label, a target or one to skip",
          path, number);
    }
    kind = Kind::kText;
  }
  return kinds;
}

// The columns that are not skipped; each of texts as a column for each of its texts.
Tensor inputs(const std::string& path, const CsvTable& table, const std::vector<int64_t>& skip,
              const std::vector<int64_t>& one_hot, double scale, std::optional<double> missing) {
  if (missing && !std::isfinite(*missing))
    raise(TN_INVALID_ARGUMENT, "{}: missing is {}, expected a finite number", path, *missing);
  const std::vector<Kind> kinds = input_kinds(path, table, skip, one_hot);
  // Of each column of texts what there is, all in one pass.
  std::vector<Kind> of_texts(kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i] == Kind::kText) of_texts[i] = Kind::kText;
  std::unordered_map<int64_t, Categories> texts;
  table.read({.kinds = of_texts, .text = [&](int64_t row, int64_t column, const std::string& text) {
                int64_t number = 0;
                if (!texts[column].add(text, &number)) refuse_text(table, row, column, "`one_hot`");
              }});
  for (auto& [column, known] : texts) known.sort();
  std::vector<int64_t> begins(kinds.size());
  int64_t width = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    begins[i] = width;
    if (kinds[i] == Kind::kNumber) ++width;
    if (kinds[i] == Kind::kText) width += texts[static_cast<int64_t>(i)].size();
  }
  Rows<float> out(path, {table.rows(), width}, float32);
  table.read({.kinds = kinds,
              .number =
                  [&](int64_t row, int64_t column, double value) {
                    out.at(row, begins[static_cast<size_t>(column)]) =
                        as_float(table, row, column, value, scale);
                  },
              .missing = missing,
              .text =
                  [&](int64_t row, int64_t column, const std::string& text) {
                    const Categories& known = texts[column];
                    float* const at = &out.at(row, begins[static_cast<size_t>(column)]);
                    std::fill_n(at, known.size(), 0.f);
                    at[known.numbers.at(text)] = 1;
                  }});
  return out.tensor;
}

// Numbers to learn, in the order of `columns`.
Tensor targets(const std::string& path, const CsvTable& table,
               const std::vector<int64_t>& columns) {
  Rows<float> out(path, {table.rows(), static_cast<int64_t>(columns.size())}, float32);
  std::vector<Kind> kinds(static_cast<size_t>(table.columns()));
  std::unordered_multimap<int64_t, int64_t> places;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t column = table.column(columns[i]);
    kinds[static_cast<size_t>(column)] = Kind::kNumber;
    places.emplace(column, static_cast<int64_t>(i));
  }
  table.read({.kinds = kinds,
              .number =
                  [&](int64_t row, int64_t column, double value) {
                    const auto [from, to] = places.equal_range(column);
                    for (auto at = from; at != to; ++at)
                      out.at(row, at->second) = as_float(table, row, column, value, 1);
                  },
              .may_be_missing = false});
  return out.tensor;
}

// Where the first row has a number, all are 0, 1, 2, ..; else they are texts.
Tensor labels(const std::string& path, const CsvTable& table, int64_t label) {
  const int64_t column = table.column(label);
  Rows<int64_t> out(path, {table.rows()}, int64);
  if (has_texts(table, column)) {
    Categories known =
        classes_of(table, column, [&](int64_t row, int64_t number) { out.at(row) = number; });
    const std::vector<int64_t> sorted = known.sort();
    for (int64_t row = 0; row < table.rows(); ++row)
      out.at(row) = sorted[static_cast<size_t>(out.at(row))];
    return out.tensor;
  }
  table.read({.kinds = one_column(table, column, Kind::kNumber),
              .number =
                  [&](int64_t row, int64_t, double value) {
                    if (!(value >= 0 && value <= 1e15) || std::trunc(value) != value) {
                      table.refuse(row, column,
                                   fmt::format("{} is not a class, expected 0, 1, 2, ...", value));
                    }
                    out.at(row) = static_cast<int64_t>(value);
                  },
              .may_be_missing = false});
  return out.tensor;
}

// The names of what `labels` gives numbers of; none where the file has the numbers.
std::vector<std::string> classes(const CsvTable& table, int64_t label) {
  const int64_t column = table.column(label);
  std::vector<std::string> names;
  if (!has_texts(table, column)) return names;
  for (const auto& [name, number] : classes_of(table, column, [](int64_t, int64_t) {}).numbers)
    names.push_back(name);
  return names;
}

char separator_of(const std::string& path, const std::string& text) {
  if (text.size() == 1) return text[0];
  raise(TN_INVALID_ARGUMENT, "{}: separator is '{}', expected one character, as ','", path,
        printable(text));
}

}  // namespace

void add_tables() {
  plugin::object(
      "CsvFile(str path, bool header=False, str separator=',')",
      [](Object& self, std::string path, bool header, std::string separator) {
        auto table = std::make_shared<const CsvTable>(
            path, CsvFormat{.header = header, .separator = separator_of(path, separator)});
        self.method("column(str name) -> int",
                    [=](std::string name) { return table->column(name); });
        self.method("line(int row) -> int", [=](int64_t row) { return table->line(row); });
        self.method("inputs(int[] skip, int[] one_hot, float scale, float? missing) -> Tensor",
                    [=](std::vector<int64_t> skip, std::vector<int64_t> one_hot, double scale,
                        std::optional<double> missing) {
                      return inputs(path, *table, skip, one_hot, scale, missing);
                    });
        self.method("labels(int column) -> Tensor",
                    [=](int64_t column) { return labels(path, *table, column); });
        self.method("classes(int column) -> str[]",
                    [=](int64_t label) { return StringList{classes(*table, label)}; });
        self.method("targets(int[] columns) -> Tensor",
                    [=](std::vector<int64_t> columns) { return targets(path, *table, columns); });
      });
}

}  // namespace tenon::files
