// Regular expressions of tokenizer.json files are Oniguruma's, in the syntax of Ruby; here ICU reads
// them. This translates what both have, and refuses what the other would read in another way.
#pragma once

#include <string>

#include "fields.h"

namespace tenon::tokenizers {

// The same expression for ICU, with its flags UREGEX_MULTILINE and UREGEX_UNIX_LINES. `fields` is
// where the file has it, for errors.
std::string icu_syntax(const std::string& regex, const Fields& fields);

}  // namespace tenon::tokenizers
