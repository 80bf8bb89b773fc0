// CSV tables of the plugin `files`: what is taken, and that each error names its line.
#include <sys/stat.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "csv.h"
#include "files_support.h"

namespace tenon::files {
namespace {

using Csv = FilesTest;

CsvFormat with_header() { return {.header = true}; }

// All columns, row by row.
std::vector<double> numbers(const CsvTable& table, std::optional<double> missing = {}) {
  std::vector<double> values(static_cast<size_t>(table.rows() * table.columns()));
  table.read({.kinds = std::vector(static_cast<size_t>(table.columns()), CsvTable::Kind::kNumber),
              .number =
                  [&](int64_t row, int64_t column, double value) {
                    values[static_cast<size_t>(row * table.columns() + column)] = value;
                  },
              .missing = missing});
  return values;
}

std::vector<std::string> texts(const CsvTable& table, int64_t column) {
  std::vector<std::string> values;
  std::vector<CsvTable::Kind> kinds(static_cast<size_t>(table.columns()));
  kinds[static_cast<size_t>(column)] = CsvTable::Kind::kText;
  table.read({.kinds = kinds, .text = [&](int64_t row, int64_t at, const std::string& text) {
                EXPECT_EQ(at, column);
                EXPECT_EQ(row, static_cast<int64_t>(values.size()));
                values.push_back(text);
              }});
  return values;
}

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

TEST_F(Csv, ReadsRowsAndRemembersLines) {
  const CsvTable t(write("a.csv", "1,2.5,-3\r\n 4 ,\t5e2,+6\n\n"));
  EXPECT_EQ(t.rows(), 2);
  EXPECT_EQ(t.columns(), 3);
  EXPECT_EQ(numbers(t), (Numbers{1, 2.5, -3, 4, 500, 6}));
  EXPECT_EQ(t.line(0), 1);
  EXPECT_EQ(t.line(1), 2);
  EXPECT_SAYS(t.line(2), "a.csv: row 2 of 2");
}

// As pandas does; lines keep their numbers.
TEST_F(Csv, PassesOverEmptyLines) {
  const CsvTable t(write("a.csv", "\n \n1,2\n\n\t\r\n3,4\n\n5,\"a\n\nb\"\n\n"));
  EXPECT_EQ(t.rows(), 3);
  EXPECT_EQ(t.line(0), 3);
  EXPECT_EQ(t.line(1), 6);
  EXPECT_EQ(t.line(2), 8);
  EXPECT_EQ(texts(t, 0), (Texts{"1", "3", "5"}));
  EXPECT_EQ(texts(t, 1), (Texts{"2", "4", "a\n\nb"}));
  EXPECT_EQ(t.first(0), "1");
  const CsvTable named(write("b.csv", "\n\nx,y\n\n1,2\n\n3,4"), with_header());
  EXPECT_EQ(numbers(named), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(named.column("y"), 1);
  EXPECT_EQ(named.line(1), 7);
  EXPECT_SAYS(CsvTable(write("c.csv", "1,2\n\n3\n")), "c.csv:3: 1 field, line 1 has 2");
  EXPECT_SAYS(numbers(CsvTable(write("d.csv", "\n1,2\n\n3,x\n"))),
              "d.csv:4: column 2: 'x' is not a number");
  EXPECT_SAYS(CsvTable(write("e.csv", "\n\n")), "e.csv: has no rows");
}

TEST_F(Csv, SkipsHeaderAndByteOrderMark) {
  const CsvTable t(write("a.csv", "\xef\xbb\xbfx,y\n1,2"), with_header());
  EXPECT_EQ(numbers(t), (Numbers{1, 2}));
  EXPECT_EQ(t.line(0), 2);
  EXPECT_EQ(t.column("x"), 0);  // the mark is no part of the name
  // A line that holds no names may be there all the same.
  EXPECT_EQ(numbers(CsvTable(write("b.csv", "# made today\n1,2"), with_header())), (Numbers{1, 2}));
}

// As spreadsheets write them (RFC 4180).
TEST_F(Csv, FieldsMayHaveQuotes) {
  const CsvTable t(write("a.csv", "\"x\",\"y\"\r\n\"1\",\" 2.5 \"\r\n3,\"-4\"\r\n"), with_header());
  EXPECT_EQ(numbers(t), (Numbers{1, 2.5, 3, -4}));
  const CsvTable u(write("b.csv",
                         "name,\"a, b\"\n\"Smith, J.\",1\n\"6\"\" pipe\nlong\" ,2\r\n"
                         " bare \"x\" ,3\n\"\",4\n\"\"\"\",5\n"),
                   with_header());
  EXPECT_EQ(texts(u, 0), (Texts{"Smith, J.", "6\" pipe\nlong", "bare \"x\"", "", "\""}));
  EXPECT_EQ(u.column("a, b"), 1);
  EXPECT_EQ(u.first(0), "Smith, J.");
  EXPECT_SAYS(texts(CsvTable(write("d.csv", std::string("a\0b,1\n", 6))), 0),
              "d.csv:1: column 1: 'a\\x00b' has a zero byte");
  EXPECT_EQ(u.line(1), 3);
  EXPECT_EQ(u.line(2), 5);  // the line end within quotes counts
  EXPECT_SAYS(texts(CsvTable(write("c.csv", "\"a\",1\nb,\"c\"d\n")), 0),
              "c.csv:2: column 2: '\"c\"d' goes on behind its closing quote");
}

TEST_F(Csv, SeparatorsAreOthers) {
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "1;2.5\n"), {.separator = ';'})), (Numbers{1, 2.5}));
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "1\t2\n 3\t4 \r\n"), {.separator = '\t'})),
            (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "1 2\n3 4\n"), {.separator = ' '})),
            (Numbers{1, 2, 3, 4}));
  // An empty field at the end of a line of tabs is a field.
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "1\t\n\t\n"), {.separator = '\t'}), -1),
            (Numbers{1, -1, -1, -1}));
  for (const char wrong : {'1', 'e', '.', '-', '"', '\n', '\0'}) {
    EXPECT_SAYS(CsvTable(path("a.csv"), {.separator = wrong}), "which may be part of a field");
  }
}

TEST_F(Csv, ColumnsHaveNumbersAndNames) {
  const CsvTable t(write("a.csv", "width,height,width\n1,2,3\n"), with_header());
  EXPECT_EQ(t.column(2), 2);
  EXPECT_EQ(t.column(-1), 2);
  EXPECT_EQ(t.column("height"), 1);
  EXPECT_SAYS(t.column(3), "a.csv: there is no column 3 among its 3");
  EXPECT_SAYS(t.column(-4), "a.csv: there is no column -4 among its 3");
  EXPECT_SAYS(t.column("heigth"),
              "a.csv: there is no column 'heigth'; did you mean 'height'?; "
              "expected one of width, height, width");
  EXPECT_SAYS(t.column("width"),
              "a.csv: several columns are called 'width', expected the number of one");
  EXPECT_SAYS(CsvTable(write("b.csv", "1,2\n")).column("x"),
              "b.csv: there is no column 'x': columns have names where `header` says");
  EXPECT_SAYS(CsvTable(write("b.csv", "x,y\n1,2,3\n"), with_header()),
              "b.csv: the header has 2 names, line 2 has 3 fields");
  EXPECT_SAYS(CsvTable(write("b.csv", "x;y\n1;2\n"), with_header()).column("x"),
              "there is no column 'x'; did you mean 'x;y'?; expected one of x;y (one column: "
              "`separator` is ',')");
}

TEST_F(Csv, WhatIsMissingIsANumberThatIsSaid) {
  const std::string file = write("a.csv", "1,NA,nan\n,?,\"\"\nnull,N/A,NULL\n");
  EXPECT_EQ(numbers(CsvTable(file), 7), (Numbers{1, 7, 7, 7, 7, 7, 7, 7, 7}));
  EXPECT_SAYS(numbers(CsvTable(file)),
              "a.csv:1: column 2: 'NA' is not a number; `missing` is a number to take instead");
  EXPECT_SAYS(numbers(CsvTable(write("a.csv", "1,none\n")), 7), "'none' is not a number");
}

TEST_F(Csv, NamesTheLineOfWhatIsWrong) {
  const auto read = [this](const std::string& text) { numbers(CsvTable(write("a.csv", text))); };
  for (const char* wrong : {"1\"", "\"\"", "\" \"", "\"x\""}) {
    EXPECT_SAYS(read(std::string("1,") + wrong),
                std::string("a.csv:1: column 2: '") + wrong + "' is not a number");
  }
  for (const char* wrong : {"\"1\"2", "\"\"1\"\""}) {
    EXPECT_SAYS(read(std::string("1,") + wrong),
                std::string("a.csv:1: column 2: '") + wrong + "' goes on behind its closing quote");
  }
  for (const char* wrong : {"\"", "\"1", "\"1,2\"\""}) {
    EXPECT_SAYS(read(std::string("1,") + wrong + "\n3,4\n"),
                std::string("a.csv:1: column 2: '") + wrong + "' has no closing quote");
  }
  EXPECT_SAYS(read("1,2\n3,x4\n"), "a.csv:2: column 2: 'x4' is not a number");
  EXPECT_SAYS(
      read("x,y\n3,4\n"),
      "a.csv:1: column 1: 'x' is not a number; `header` says that the first line holds names");
  EXPECT_SAYS(read("1,2\n3,\n"), "a.csv:2: column 2: '' is not a number");
  EXPECT_SAYS(read("1,2\n3,4\n5\n"), "a.csv:3: 1 field, line 1 has 2");
  EXPECT_SAYS(read("1,2\n3,4,5\n"), "a.csv:2: 3 fields, line 1 has 2");
  EXPECT_SAYS(read("1,nan\n"), "a.csv:1: column 2: 'nan' is not a number");
  EXPECT_SAYS(read("1,inf\n"), "a.csv:1: column 2: 'inf' is not a number");
  EXPECT_SAYS(read("1,1e999\n"), "'1e999' is not a number that a double can hold");
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "1e-999,-2E-400\n"))), (Numbers{0, 0}));
  const std::string zeros(400, '0');
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "0." + zeros + "1,-." + zeros + "2\n"))),
            (Numbers{0, 0}));
  for (const std::string& large :
       {"1" + zeros + ".5", "1" + zeros + "e-5", std::string("-0.01e999")})
    EXPECT_SAYS(numbers(CsvTable(write("a.csv", large + "\n"))), "that a double can hold");
  EXPECT_EQ(numbers(CsvTable(write("a.csv", "0." + zeros + "1e5,-7e-400\n"))), (Numbers{0, 0}));
  EXPECT_SAYS(read("1,+-2\n"), "'+-2' is not a number");
  EXPECT_SAYS(read(std::string("1,\0\x01\n", 5)), "'\\x00\\x01' is not a number");
}

TEST_F(Csv, RefusesWhatHasNoRows) {
  EXPECT_SAYS(CsvTable(write("a.csv", "")), "a.csv: has no rows");
  EXPECT_SAYS(CsvTable(write("a.csv", "\n\n \n")), "a.csv: has no rows");
  EXPECT_SAYS(CsvTable(write("a.csv", "x,y\n"), with_header()),
              "a.csv: has no rows behind its header");
  EXPECT_SAYS(CsvTable(write("a.csv",
                             "\xff\xfe"
                             "1")),
              "a.csv: is UTF-16, expected UTF-8");
  EXPECT_SAYS(CsvTable(path("absent.csv")), "absent.csv: cannot be opened: No such file");
  EXPECT_SAYS(CsvTable(folder_.string()), "is a folder, not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_SAYS(CsvTable(path("pipe")), "is a device or pipe, not a regular file");
}

// Random bytes, and good tables with random damage: an error or a table, and what sanitizers watch
// for neither time.
TEST_F(Csv, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "0123456789,,,\n\n\r +-.eEnainf\"\t\0\xff";
  for (int i = 0; i < 2000; ++i) {
    std::string text =
        i % 2 == 0 ? std::string(random() % 100, '\0') : "1,2.5,-3e5\n4,5,6\n7,8,9\n";
    for (char& c : text) {
      if (i % 2 == 0 || random() % 8 == 0) c = alphabet[random() % alphabet.size()];
    }
    try {
      const CsvTable t(write("f", text),
                       {.header = i % 3 == 0, .separator = i % 5 == 0 ? ';' : ','});
      for (int64_t column = 0; column < t.columns(); ++column)
        EXPECT_EQ(texts(t, column).size(), static_cast<size_t>(t.rows()));
      for (const double value : numbers(t)) EXPECT_TRUE(std::isfinite(value));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("/f:"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon::files
