// The logarithm of the gamma function and Hurwitz' zeta function as parts of formulas. Used by
// special.cpp, incomplete_gamma.cpp and zeta.cpp.
#pragma once

// Lines of a formula that name log Γ(z) `name`, for z of 1/2 at least; they take the names w, v, s,
// series and moved too. Stirling's series from 7 on, where a smaller z is moved to by the product
// z (z + 1) .. (z + 6). DLMF 5.11.1 and 5.5.1.
#define LOG_GAMMA(name, z)                                                                    \
  "let w = where(" z " < 7, " z " + 7, " z                                                    \
  "); let v = 1 / w; let s = v * v\n"                                                         \
  "let series = v * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 -" \
  " s * (691 / 360360 - s * (1 / 156 - s * (3617 / 122400 - s * (43867 / 244188 -"            \
  " s * (174611 / 125400))))))))))\n"                                                         \
  "let moved = where(" z " < 7, " z " * (" z " + 1) * (" z " + 2) * (" z " + 3) * (" z        \
  " + 4) * (" z " + 5) * (" z                                                                 \
  " + 6), 1)\n"                                                                               \
  "let " name " = (w - 0.5) * (log(w) - 1) + 0.4189385332046728 + series - log(moved)\n"

// Lines of a formula that name ζ(s, q), the sum of (q + k)^-s over k from 0 on, `name`, for q above 0
// and s above 1; they take names that begin with w_, v_, t_ and r_ too. By Euler and Maclaurin from
// the twelfth term on, DLMF 25.11.5, in which `most`, s itself or what s is cut off at, stands for s.
#define HURWITZ_ZETA(name, q, s, most)                                                             \
  "let w_" name " = " q " + 12; let v_" name " = 1 / (w_" name " * w_" name                        \
  ")\n"                                                                                            \
  "let t_" name " = " q " ** -" s " + (" q " + 1) ** -" s " + (" q " + 2) ** -" s " + (" q         \
  " + 3) ** -" s " + (" q " + 4) ** -" s " + (" q " + 5) ** -" s " + (" q " + 6) ** -" s " + (" q  \
  " + 7) ** -" s " + (" q " + 8) ** -" s " + (" q " + 9) ** -" s " + (" q " + 10) ** -" s " + (" q \
  " + 11) ** -" s                                                                                  \
  "\n"                                                                                             \
  "let r_" name " = " most " / w_" name " * (1 / 12 - (" most " + 1) * (" most " + 2) * v_" name   \
  " * (1 / 720 - (" most " + 3) * (" most " + 4) * v_" name " * (1 / 30240 - (" most               \
  " + 5) * (" most " + 6) * v_" name " * (1 / 1209600 - (" most " + 7) * (" most " + 8) * v_" name \
  " * (1 / 47900160 - (" most " + 9) * (" most " + 10) * v_" name                                  \
  " * (691 / 1307674368000 - (" most " + 11) * (" most " + 12) * v_" name                          \
  " * (1 / 74724249600 - (" most " + 13) * (" most " + 14) * v_" name                              \
  " * (3617 / 10670622842880000))))))))\n"                                                         \
  "let " name " = t_" name " + where(isinf(w_" name "), 0, w_" name " ** -" most " * (w_" name     \
  " / (" most " - 1) + 0.5 + r_" name "))\n"
