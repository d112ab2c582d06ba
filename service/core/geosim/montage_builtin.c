#include "core/geosim/montage_figures.h"

/*
 * What geosim_montage_measure makes of the recordings, to five digits; a unit test holds it against
 * them (tests/unit/codec/test_wfformat.c).
 */
const struct geosim_montage_figures geosim_montage_2mass = {{
    [MONTAGE_PROJECT] =
        {1.4889e+06, 0.023917, 0, {16.608, 0, 0.056227}, {8.2963e+06, 0, 0.0021188}},
    [MONTAGE_DIFF_FIT] = {277, 0, 1, {0.19038, 0, 1.0676}, {263.05, 0, 0.010459}},
    [MONTAGE_CONCAT_FIT] = {12090, 0.89247, 1, {0.187, 0, 0.032234}, {1318.3, 0, 0.14875}},
    [MONTAGE_BG_MODEL] = {8028, 0.72546, 1, {0.68867, 0, 0.20968}, {246.16, 0.0080962, 0.048477}},
    [MONTAGE_BACKGROUND] = {4213.8, 0.58084, 1, {0.38303, 0, 0.34196}, {8.2963e+06, 0, 0.0021188}},
    [MONTAGE_IMGTBL] =
        {3520, 0.72273, 0.5, {0.14562, 1.2072e-09, 0.026424}, {892.37, 0.00010507, 0.0014251}},
    [MONTAGE_ADD] = {273, 0.007326, 1, {0, 6.1654e-09, 0.1295}, {0, 0.24619, 0.69615}},
    [MONTAGE_VIEWER] = {0, 0, 0.5, {0.12285, 4.7471e-08, 0.20661}, {5896.2, 0.055355, 0.27039}},
}};

const struct geosim_montage_figures geosim_montage_dss = {{
    [MONTAGE_PROJECT] = {6.9843e+06, 0.11514, 0, {744.97, 0, 0.14254}, {1.0583e+08, 0, 0.0052329}},
    [MONTAGE_DIFF_FIT] = {277, 0, 1, {1.7463, 0, 2.2082}, {132.27, 0, 0.84826}},
    [MONTAGE_CONCAT_FIT] = {14632, 0.013839, 1, {0, 1.4955e-05, 0.064795}, {0, 0.29322, 0.0069877}},
    [MONTAGE_BG_MODEL] = {6698, 0, 1, {0, 0.00014447, 0.067322}, {0, 0.059835, 0}},
    [MONTAGE_BACKGROUND] = {2782, 0.0052829, 1, {13.494, 0, 0.58512}, {1.0583e+08, 0, 0.0052329}},
    [MONTAGE_IMGTBL] = {2782, 0.0052829, 0.5, {0, 2.4049e-10, 0.090393}, {0, 9.165e-06, 0.0051486}},
    [MONTAGE_ADD] = {277, 0, 1, {0, 2.7607e-09, 0.41934}, {0, 0.12246, 0.0052297}},
    [MONTAGE_VIEWER] = {0, 0, 0.5, {0.0095, 5.0855e-08, 0.034353}, {0, 0.062548, 0.28715}},
}};
