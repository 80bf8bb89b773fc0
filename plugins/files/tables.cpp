// Tables in CSV as objects of the plugin `files`: columns of numbers, of classes, and of texts that
// become columns of 0 and 1. The face over them is data.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "csv.h"
#include "plugin_tensors.h"

namespace tenon::files {
namespace {

// A column of more texts than these is a name or a number of its row, and no category.
constexpr size_t kMostCategories = 1000;
constexpr float kMostFloat = std::numeric_limits<float>::max();

// The texts of a column, each once and sorted by their bytes, and which of them each row has.
struct Categories {
  std::vector<std::string> names;
  std::vector<int64_t> of_rows;
};

Categories categories_of(const CsvTable& table, int64_t column, bool are_classes) {
  std::map<std::string, int64_t> places;
  std::vector<std::map<std::string, int64_t>::iterator> rows;
  rows.reserve(static_cast<size_t>(table.rows()));
  table.read({{.column = column, .text = [&](int64_t row, const std::string& text) {
                 if (are_classes && text.empty())
                   table.refuse(row, column, "is empty, expected the name of a class");
                 rows.push_back(places.try_emplace(text, 0).first);
                 if (places.size() <= kMostCategories) return;
                 table.refuse(row, column,
                              fmt::format("there are more than {} different texts up to here, "
                                          "expected at most that in a column of {}",
                                          kMostCategories, are_classes ? "classes" : "`one_hot`"));
               }}});
  Categories found;
  for (auto& [text, place] : places) {
    place = static_cast<int64_t>(found.names.size());
    found.names.push_back(text);
  }
  for (const auto& row : rows) found.of_rows.push_back(row->second);
  return found;
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

// float32 [rows, columns] of what stands in each row of the file, in memory that is written in place.
struct Floats {
  Floats(const std::string& path, int64_t rows, int64_t columns)
      : tensor(naming(path,
                      [&] {
                        return Tensor::empty({rows, columns}, float32);
                      })),
        values(rows * columns == 0 ? nullptr : static_cast<float*>(data_of(tensor))),
        width(columns) {}
  float& at(int64_t row, int64_t column) { return values[row * width + column]; }

  Tensor tensor;
  float* values;
  int64_t width;
};

// The columns that are not skipped; each of texts as a column for each of its texts.
Tensor inputs(const std::string& path, const CsvTable& table, const std::vector<int64_t>& skip,
              const std::vector<int64_t>& one_hot, double scale, std::optional<double> missing) {
  const auto n = static_cast<size_t>(table.columns());
  std::vector<bool> is_skipped(n), is_text(n);
  for (const int64_t column : skip) is_skipped[static_cast<size_t>(table.column(column))] = true;
  for (const int64_t number : one_hot) {
    const int64_t column = table.column(number);
    if (is_skipped[static_cast<size_t>(column)]) {
      raise(TN_INVALID_ARGUMENT,
            "{}: column {} is among those of `one_hot` and no input; expected one of the others",
            path, number);
    }
    is_text[static_cast<size_t>(column)] = true;
  }
  std::vector<int64_t> begins(n);
  std::map<int64_t, Categories> texts;
  int64_t width = 0;
  for (size_t i = 0; i < n; ++i) {
    begins[i] = width;
    if (is_skipped[i]) continue;
    const auto column = static_cast<int64_t>(i);
    if (is_text[i]) texts[column] = categories_of(table, column, false);
    width += is_text[i] ? static_cast<int64_t>(texts[column].names.size()) : 1;
  }
  Floats out(path, table.rows(), width);
  std::vector<CsvTable::Reader> readers;
  for (size_t i = 0; i < n; ++i) {
    if (is_skipped[i]) continue;
    const int64_t begin = begins[i], column = static_cast<int64_t>(i);
    if (is_text[i]) {
      const Categories& known = texts[column];
      const auto size = static_cast<int64_t>(known.names.size());
      for (int64_t row = 0; row < table.rows(); ++row)
        for (int64_t k = 0; k < size; ++k)
          out.at(row, begin + k) = known.of_rows[static_cast<size_t>(row)] == k ? 1.f : 0.f;
      continue;
    }
    readers.push_back({.column = column,
                       .number =
                           [=, &out, &table](int64_t row, double value) {
                             out.at(row, begin) = as_float(table, row, column, value, scale);
                           },
                       .missing = missing});
  }
  table.read(std::move(readers));
  return out.tensor;
}

// Numbers to learn, in the order of `columns`.
Tensor targets(const std::string& path, const CsvTable& table,
               const std::vector<int64_t>& columns) {
  Floats out(path, table.rows(), static_cast<int64_t>(columns.size()));
  std::vector<CsvTable::Reader> readers;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t column = table.column(columns[i]), place = static_cast<int64_t>(i);
    readers.push_back({.column = column, .number = [=, &out, &table](int64_t row, double value) {
                         out.at(row, place) = as_float(table, row, column, value, 1);
                       }});
  }
  table.read(std::move(readers));
  return out.tensor;
}

// Where the first row has a number, all are 0, 1, 2, ..; else they are texts.
Tensor labels(const std::string& path, const CsvTable& table, int64_t label) {
  const int64_t column = table.column(label);
  if (!table.is_number(column)) {
    const Categories known = categories_of(table, column, true);
    return naming(path, [&] { return Tensor::from(known.of_rows); });
  }
  std::vector<int64_t> values(static_cast<size_t>(table.rows()));
  table.read({{.column = column, .number = [&](int64_t row, double value) {
                 if (!(value >= 0 && value <= 1e15) || std::trunc(value) != value) {
                   table.refuse(row, column,
                                fmt::format("{} is not a class, expected 0, 1, 2, ...", value));
                 }
                 values[static_cast<size_t>(row)] = static_cast<int64_t>(value);
               }}});
  return naming(path, [&] { return Tensor::from(values); });
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
        // The names of what `labels` gives numbers of; none where the file has the numbers.
        self.method("classes(int column) -> str[]", [=](int64_t label) {
          const int64_t column = table->column(label);
          return StringList{table->is_number(column) ? std::vector<std::string>()
                                                     : categories_of(*table, column, true).names};
        });
        self.method("targets(int[] columns) -> Tensor",
                    [=](std::vector<int64_t> columns) { return targets(path, *table, columns); });
      });
}

}  // namespace tenon::files
