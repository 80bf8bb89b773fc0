// The data of a training, read from its files. Used by training.cpp.
#pragma once

#include "training.h"

namespace tenon::cli {

// Reads a table into train and test; gives all of it, in the file's order.
data::Dataset read_table(Training& training);

// Reads a text into vocabulary, text and validation.
void split_text(Training& training);

}  // namespace tenon::cli
