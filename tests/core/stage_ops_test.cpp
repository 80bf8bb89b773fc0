// What a definition of an op, a kernel or a kernel pair must be.
#include "plugin/stage_ops.h"

#include <gtest/gtest.h>

#include "staging_support.h"

namespace tenon {
namespace {

Status no_infer(void*, const tn_value*, uint32_t, tn_meta*, uint32_t) { return nullptr; }
Status no_decomposition(void*, const tn_value*, uint32_t, tn_value*, uint32_t) { return nullptr; }
Status no_view(void*, const tn_value*, uint32_t, tn_view*) { return nullptr; }
Status no_vjp(void*, const tn_vjp_call*) { return nullptr; }

std::string stage_text(const tn_op_def& def) {
  StagedOps staged;
  const std::string text = text_of(stage_op(def, "t", &staged));
  EXPECT_EQ(staged.ops.empty(), !text.empty()) << text;
  return text;
}
std::string stage_text(const tn_kernel_def& def) {
  StagedOps staged;
  return text_of(stage_kernel(def, "t", &staged));
}

TEST(StageOp, IsExactlyOneOf) {
  tn_op_def def = op_def("f(Tensor x) -> Tensor", "x");
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def),
            "op 't.f' has an expression and a decomposition; it must be one of them");
  EXPECT_EQ(stage_text(op_def("f(Tensor x) -> Tensor", nullptr)),
            "op 't.f' has no meaning: give an expression, a primitive, a view, a decomposition, or "
            "infer where kernels alone compute it");
  def = op_def("f(Tensor x) -> Tensor", "x");
  def.infer = no_infer;
  EXPECT_EQ(stage_text(def), "op 't.f': infer follows from an expression; leave it out");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.infer = no_infer;
  EXPECT_EQ(stage_text(def), "");
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def), "");
}

TEST(StageOp, ChecksItsSchemaAndFlags) {
  EXPECT_EQ(stage_text(op_def(nullptr, "x")), "op of plugin 't' has no schema");
  EXPECT_EQ(stage_text(op_def("ops.f(Tensor x) -> Tensor", "x")),
            "op 'ops.f': leave the prefix out; it is the plugin's id, 't'");
  tn_op_def def = op_def("f(Tensor x)", nullptr);
  def.decompose = no_decomposition;
  EXPECT_EQ(stage_text(def), "op 't.f' gives nothing and writes nothing: 'f(Tensor x)'");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.view = no_view;
  EXPECT_EQ(
      stage_text(def),
      "op 't.f': a view takes Tensor(a) first and returns Tensor(a), not 'f(Tensor x) -> Tensor'");
  def.schema = "f(Tensor(a) x) -> Tensor(a)";
  EXPECT_EQ(stage_text(def), "");
  def.flags = TN_OP_RANDOM;
  EXPECT_EQ(stage_text(def), "op 't.f': a view cannot be dynamic or random");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.decompose = no_decomposition;
  def.flags = TN_OP_INPLACE;
  EXPECT_EQ(stage_text(def), "op 't.f': .inplace() (TN_OP_INPLACE) needs an expression");
  def.flags = TN_OP_LIBRARY;
  EXPECT_EQ(stage_text(def), "op 't.f': TN_OP_LIBRARY is for ops of kernels alone");
  def.flags = TN_OP_VJP_SKIPS_OUTPUTS;
  EXPECT_EQ(stage_text(def), "op 't.f': TN_OP_VJP_SKIPS_ARGS and _OUTPUTS are for ops with a vjp");
  def.flags = 1u << 20;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown flags 0x100000");
  def.flags = TN_OP_METHOD;
  def.schema = "f(int n) -> Tensor";
  EXPECT_EQ(stage_text(def),
            "op 't.f': .method() (TN_OP_METHOD) needs a Tensor first, not 'f(int n) -> Tensor'");
  def = op_def("f(Tensor x) -> Tensor", "x");
  def.flags = TN_OP_FUSED;
  EXPECT_EQ(stage_text(def), "op 't.f': .fused() (TN_OP_FUSED) needs a decomposition");
  def.flags = TN_OP_KEEPS_HALVES;
  EXPECT_EQ(stage_text(def),
            "op 't.f': .keeps_halves() (TN_OP_KEEPS_HALVES) is for ops with a decomposition");
  def.flags = TN_OP_NUMBERS;
  EXPECT_EQ(stage_text(def),
            "op 't.f': .numbers() (TN_OP_NUMBERS) is for ops with a decomposition");
  def.flags = 0;
  def.doc = "";
  EXPECT_EQ(stage_text(def), "op 't.f': its line of documentation has 0 bytes, expected 1 to 1000");
  def.doc = "two\nlines";
  EXPECT_EQ(stage_text(def),
            "op 't.f': its documentation is not one line of printable UTF-8: two\\x0alines");
  def.doc = "x itself.";
  def.group = "Conv";
  EXPECT_EQ(stage_text(def),
            "op 't.f': its group is 'Conv', expected lower case letters, digits and '_'");
  def.group = "conv2";
  EXPECT_EQ(stage_text(def), "");
  def.amp = 9;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown amp class 9");
  def = op_def("f(Tensor x) -> Tensor", nullptr);
  def.primitive = TN_N_PRIM_KERNELS;
  EXPECT_EQ(stage_text(def), "op 't.f': unknown primitive 13");
  def = op_def("f(Tensor? x) -> Tensor", "x");
  EXPECT_NE(stage_text(def), "");
}

TEST(StageOp, FillsTheRecord) {
  StagedOps staged;
  tn_op_def def = op_def("scale(Tensor x, Tensor y, float k=2) -> Tensor", "x * y * exp(k)");
  def.flags = TN_OP_INPLACE;
  def.vjp = no_vjp;
  ASSERT_EQ(text_of(stage_op(def, "t", &staged)), "");
  ASSERT_EQ(staged.ops.size(), 2u);
  const Op& op = *staged.ops[0];
  EXPECT_EQ(op.name, "t.scale");
  EXPECT_EQ(op.amp, TN_AMP_FLOAT32);  // it has exp
  EXPECT_EQ(op.written, 0u);
  EXPECT_FALSE(op.inplace);
  ASSERT_EQ(op.defaults.size(), 3u);
  EXPECT_EQ(op.defaults[0].kind, static_cast<uint32_t>(TN_KIND_NONE));
  EXPECT_EQ(op.defaults[2].as.f, 2.0);
  const Op& inplace = *staged.ops[1];
  EXPECT_EQ(inplace.name, "t.scale_");
  EXPECT_EQ(schema_text(inplace.schema),
            "scale_(Tensor(a!) x, Tensor y, float k=2.0) -> Tensor(a!)");
  EXPECT_EQ(inplace.written, 1u);
  EXPECT_TRUE(inplace.inplace);
  EXPECT_EQ(inplace.amp, TN_AMP_NONE);
  EXPECT_EQ(inplace.flags & TN_OP_INPLACE, 0u);
  EXPECT_EQ(text_of(stage_op(def, "t", &staged)), "op 't.scale' is registered twice");
}

TEST(StageOp, APrimitiveUnderAnotherNameTakesWhatThePrimitiveDoes) {
  tn_op_def def = op_def("along(Tensor x, int dim, Tensor index) -> Tensor", nullptr);
  def.primitive = TN_PRIM_GATHER;
  EXPECT_EQ(stage_text(def), "");
  for (const char* schema :
       {"along(Tensor x, int dim) -> Tensor", "along(Tensor x, Tensor index, int dim) -> Tensor",
        "along(Tensor x, int dim, Tensor[] index) -> Tensor",
        "along(Tensor x, int dim, Tensor index) -> (Tensor, Tensor)"}) {
    def.schema = schema;
    EXPECT_EQ(stage_text(def),
              "op 't.along': '" + std::string(schema) +
                  "' does not take and give what primitive 'gather' does: 'gather(Tensor x, int "
                  "dim, Tensor index) -> Tensor'");
  }
  def.primitive = TN_PRIM_ELEMENTWISE;
  EXPECT_EQ(stage_text(def), "op 't.along': unknown primitive 1");
}

TEST(StageKernel, ChecksTheDefinition) {
  EXPECT_EQ(stage_text(kernel_def(nullptr)),
            "kernel names neither an op nor a primitive (primitive 0)");
  tn_kernel_def def = kernel_def("f");
  def.primitive = TN_PRIM_MATMUL;
  EXPECT_EQ(stage_text(def),
            "kernel for 'f' names primitive 'matmul' as well; it must be one of them");
  def = kernel_def(nullptr);
  def.primitive = TN_PRIM_SLICE;
  EXPECT_EQ(stage_text(def), "kernel: 'slice' is a view, which needs none");
  EXPECT_EQ(stage_text(kernel_def("f", nullptr)), "kernel for 'f' names no device");
  EXPECT_EQ(stage_text(kernel_def("f", "meta")),
            "kernel for 'f': meta has no memory and no kernels");
  def = kernel_def("f");
  def.launch = nullptr;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu' has no launch function");
  def = kernel_def("f");
  def.layout = 7;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': unknown layout 7");
  def = kernel_def(nullptr);
  def.layout = TN_LAYOUT_CONTIGUOUS;
  def.primitive = TN_PRIM_COPY;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'copy' on 'cpu': it is what layouts are changed with, so it must "
            "take any strides");
  def.primitive = TN_PRIM_ELEMENTWISE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'elementwise' on 'cpu': its operands are described by strides, "
            "so it must take any");
  def.layout = TN_LAYOUT_ROWS;
  def.primitive = TN_PRIM_REDUCE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': its operands are described by strides, so it "
            "must take any");
  def = kernel_def("f");
  def.prepare = [](void*, const tn_call*, void**) -> Status { return nullptr; };
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': prepare and destroy_prepared come together");
  def.destroy_prepared = [](void*, void*) {};
  def.traits = TN_KERNEL_SAME_BITS | TN_KERNEL_EPILOGUE;
  EXPECT_EQ(stage_text(def), "");
  def = kernel_def(nullptr);
  def.primitive = TN_PRIM_REDUCE;
  def.traits = TN_KERNEL_SAME_BITS;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_SAME_BITS is for kernels of ops: a "
            "primitive has no other bits");
  def.traits = TN_KERNEL_EPILOGUE;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_EPILOGUE is for products and "
            "convolutions");
  def.traits = TN_KERNEL_STRIDED_OUTPUT;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'reduce' on 'cpu': TN_KERNEL_STRIDED_OUTPUT is for SCATTER with "
            "TN_LAYOUT_STRIDED");
  def.primitive = TN_PRIM_SCATTER;
  EXPECT_EQ(stage_text(def), "");
  def.layout = TN_LAYOUT_ROWS;
  EXPECT_EQ(stage_text(def),
            "kernel for primitive 'scatter' on 'cpu': TN_KERNEL_STRIDED_OUTPUT is for SCATTER with "
            "TN_LAYOUT_STRIDED");
  def = kernel_def("f");
  def.dtypes = 1u << 30;
  EXPECT_EQ(stage_text(def), "kernel for 'f' on 'cpu': unknown dtypes 0x40000000");
  EXPECT_NE(stage_text(kernel_def("f(Tensor")).find("the schema of a kernel"), std::string::npos);
}

TEST(StagePair, ChecksTheDefinition) {
  StagedOps staged;
  tn_kernel_pair_def def{};
  def.size = sizeof(def);
  const tn_kernel_def forward = kernel_def("f");
  def.forward = &forward;
  EXPECT_EQ(text_of(stage_pair(def, "t", &staged)),
            "kernel pair for 'f' on 'cpu' has no backward function");
  def.backward = forward.launch;
  def.n_private = 2;
  EXPECT_EQ(text_of(stage_pair(def, "t", &staged)),
            "kernel pair for 'f' on 'cpu' has 2 private outputs and no infer_private");
  def.infer_private = [](void*, const tn_call*, tn_meta*, uint32_t) -> Status { return nullptr; };
  def.saves_args = 5;
  ASSERT_EQ(text_of(stage_pair(def, "t", &staged)), "");
  EXPECT_TRUE(staged.kernels[0]->is_pair);
  EXPECT_EQ(staged.kernels[0]->n_private, 2u);
  EXPECT_EQ(staged.kernels[0]->saves_args, 5u);
  EXPECT_EQ(staged.kernels[0]->def.instruction_set, 1u);
}

}  // namespace
}  // namespace tenon
