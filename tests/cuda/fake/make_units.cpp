// Writes the units that the kept list of texts is compiled in: make_units LIST FOLDER COUNT. A text
// lies in a namespace of its own, and the headers that texts share are included before. Its hash says
// in which unit, so that a text more changes one of them. The text
// decides the unit, so that few units change when texts are added: the programs are spread over the
// first two thirds, and in the others those that end with the same header lie together.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "compiled.h"

namespace {

size_t unit_of(const std::string& text, size_t n_units) {
  const size_t n_programs = n_units * 2 / 3;
  const size_t end = text.rfind("#include");
  const std::string family = text.substr(end, text.find('\n', end) - end);
  const bool is_program = text.find("KERNEL(") != std::string::npos;
  return is_program ? fake::hash_of(text) % n_programs
                    : n_programs + fake::hash_of(family) % (n_units - n_programs);
}

}  // namespace

int main(int n, char** arguments) {
  if (n != 4) return 1;
  std::ifstream list(arguments[1]);
  std::vector<std::ofstream> units;
  for (int k = 0; k < std::atoi(arguments[3]); ++k) {
    units.emplace_back(std::string(arguments[2]) + "/unit_" + std::to_string(k) + ".cpp");
    units.back() << "#include \"shim.h\"\n#include \"instructions.cuh\"\n#include \"reduce.cuh\"\n";
  }
  std::string text;
  for (std::string line; std::getline(list, line);) {
    if (line != "////") {
      text += line + "\n";
      continue;
    }
    const std::string number = std::to_string(fake::hash_of(text));
    units[unit_of(text, units.size())] << "\n#define TENON_TEXT " << number
                                       << "ull\nnamespace text_" << number << " {\n"
                                       << text << "}\n#undef TENON_TEXT\n";
    text.clear();
  }
  for (std::ofstream& unit : units) {
    if (!unit.flush()) return 1;
  }
}
