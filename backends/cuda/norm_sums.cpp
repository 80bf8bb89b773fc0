// The sums of gradients of normalizations (kernels/norm_sums.cuh).
#include "norm.h"
#include "program_text.h"

namespace cuda {

tn_dtype weight_dtype(const tn_tensor* weight, const tn_tensor* bias, tn_dtype other) {
  if (weight && bias && weight->dtype != bias->dtype) return TN_DTYPE_NONE;
  return weight ? weight->dtype : bias ? bias->dtype : other;
}

void describe_numbers(const tn_tensor& x, int64_t n, tn_meta* meta) {
  meta->ndim = 1;
  meta->dtype = wide(x.dtype);
  meta->device = x.device;
  meta->sizes[0] = n;
}

tn_status* combine_sums(const Stream& stream, const void* sums, int64_t pieces, int64_t channels,
                        const Combine& combine) {
  const ColumnShape shape = whole_columns_shape(pieces, channels);
  static constinit Texts texts;
  TextKey key = shape.key(combine.dtype);
  key.add(combine.weight_dtype);
  Text& text = texts.get(key, [&] {
    return "#define COMBINE\n" + shape.text(combine.dtype) +
           "using Weight = " + element_name(combine.weight_dtype) +
           ";\n#include \"norm_sums.cuh\"\n";
  });
  Parameters parameters;
  parameters.add(sums);
  parameters.add(data_of(combine.dweight));
  parameters.add(data_of(combine.dbias));
  parameters.add(combine.vars);
  parameters.add(combine.weight);
  parameters.add(combine.slopes);
  parameters.add(scalar_bits(combine.eps, combine.dtype));
  parameters.add(scalar_bits(combine.count, combine.dtype));
  shape.add(parameters);
  return launch(stream, text, "combine_sums", shape.grid(), parameters);
}

tn_status* plane_sums(const Stream& stream, const SumsOf& of, int64_t n, int64_t divisor,
                      int64_t modulus, void* sums) {
  const Matrix g(of.g, n), x(of.x, n);
  const RowShape shape = row_shape(1, {{g}, {x}});
  static constinit Texts texts;
  Text& text = texts.get(shape.key(), [&] {
    return "#define PLANES\n" + shape.text() + "#include \"norm_sums.cuh\"\n";
  });
  Parameters parameters;
  shape.add(parameters);
  parameters.add(of.means);
  parameters.add(of.rstds);
  parameters.add(sums);
  parameters.add(divisor);
  parameters.add(modulus);
  return launch(stream, text, "plane_sums", shape.grid(), parameters);
}

tn_status* column_sums(const Stream& stream, const SumsOf& of, const ColumnShape& shape,
                       bool moments_of_rows, void* sums) {
  static constinit Texts texts;
  const tn_dtype dtype = of.x->dtype;
  Text& text = texts.get(shape.key(dtype), [&] {
    return "#define COLUMNS\n" + shape.text(dtype) + "#include \"norm_sums.cuh\"\n";
  });
  Parameters parameters;
  for (const void* memory :
       {static_cast<const void*>(of.g->data), static_cast<const void*>(of.x->data), of.means,
        of.rstds, static_cast<const void*>(sums)})
    parameters.add(memory);
  shape.add(parameters);
  parameters.add_index(moments_of_rows, shape.is_wide());
  parameters.add_index(0, shape.is_wide());
  return launch(stream, text, "column_sums", shape.grid(), parameters);
}

}  // namespace cuda
