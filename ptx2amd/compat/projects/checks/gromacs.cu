// GROMACS's kernels of forces between atoms (Coulomb with a cutoff, a reaction field or Ewald's sum, and Lennard-Jones) on a
// periodic box of water, and the one that thins out their lists of pairs: against sums over all pairs in double precision.
#include "gmxpre.h"

#include "gromacs/gpu_utils/cudautils.cuh"

#include "nbnxm_cuda_kernel_utils.cuh"
#include "nbnxm_cuda_types.h"

#define FUNCTION_DECLARATION_ONLY
#include "nbnxm_cuda_kernel_pruneonly.cuh"
#include "nbnxm_cuda_kernels.cuh"
#define CALC_ENERGIES
#include "nbnxm_cuda_kernels.cuh"
#undef CALC_ENERGIES
#undef FUNCTION_DECLARATION_ONLY

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

using Vector = std::array<double, 3>;
constexpr int SIDE = 4, MOLECULES = SIDE * SIDE * SIDE, ATOMS = 3 * MOLECULES, CLUSTERS = ATOMS / 8;
constexpr double SPACING = 0.31, BOX = SIDE * SPACING, CUTOFF = 0.6, SWITCH = 0.5, LIST = 0.7, EPSFAC = 138.935458;
constexpr double BETA = 5.2, TABLE_SCALE = 4000, REACTION_FIELD = (78.0 - 1) / (2 * 78.0 + 1) / (CUTOFF * CUTOFF * CUTOFF);
static const double SIGMA[] = {0.3166, 0.12}, EPSILON[] = {0.65, 0.05}, PI = std::acos(-1.0); // of oxygen and hydrogen
static int wrong;

static void check(const char *kernel, const char *what, double error, double allowed) {
    const bool right = error <= allowed;
    printf("%s: %s differ by %.1e: %s\n", kernel, what, error, right ? "right" : "wrong");
    wrong += !right;
}

template <class Value>
static Value *device(const std::vector<Value> &from) {
    Value *there = nullptr;
    const size_t size = from.size() * sizeof(Value);
    if (cudaMalloc(&there, size) || cudaMemcpy(there, from.data(), size, cudaMemcpyDefault))
        wrong++;
    return there;
}

template <class Value>
static std::vector<Value> host(const void *from, size_t count) {
    std::vector<Value> found(count);
    if (cudaMemcpy(found.data(), from, count * sizeof(Value), cudaMemcpyDefault))
        wrong++;
    return found;
}

static int kind(int atom) { return atom % 3 != 0; }

// Molecules on a lattice, each turned another way.
static std::vector<float4> water() {
    std::vector<float4> found;
    for (int m = 0; m < MOLECULES; ++m) {
        const double turn = 2.1 * m, tilt = 1.3 * m + 0.4, half = 104.52 / 2 / 180 * PI, bond = 0.09572;
        const double u[3] = {std::cos(turn) * std::cos(tilt), std::sin(turn) * std::cos(tilt), std::sin(tilt)};
        const double v[3] = {-std::sin(turn), std::cos(turn), 0};
        const double at[3] = {m % SIDE * SPACING + 0.01 * std::sin(m), m / SIDE % SIDE * SPACING, m / SIDE / SIDE * SPACING};
        for (int atom = 0; atom < 3; ++atom) {
            const double along = atom ? bond * std::cos(half) : 0, across = atom ? (2 * atom - 3) * bond * std::sin(half) : 0;
            float4 place = make_float4(0, 0, 0, atom ? 0.41 : -0.82);
            for (int k = 0; k < 3; ++k)
                (&place.x)[k] = at[k] + along * u[k] + across * v[k];
            found.push_back(place);
        }
    }
    return found;
}

// Which images of the box are looked at: the box itself, and one of each two that are opposite.
struct Image {
    int index;
    Vector shift;
};

static std::vector<Image> images() {
    std::vector<Image> found = {{gmx::c_centralShiftIndex, {}}};
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (9 * z + 3 * y + x > 0)
                    found.push_back({int(found.size()) - 1, {x * BOX, y * BOX, z * BOX}});
    return found;
}

static Vector between(const std::vector<float4> &atoms, int i, int j, const Image &image) {
    const float4 a = atoms[i], b = atoms[j];
    return {a.x + image.shift[0] - b.x, a.y + image.shift[1] - b.y, a.z + image.shift[2] - b.z};
}

static double square(const Vector &v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

struct List {
    std::vector<nbnxn_sci_t> sci;
    std::vector<nbnxn_cj4_t> cj4;
    std::vector<nbnxn_excl_t> excl = {nbnxn_excl_t()};
};

// All pairs of clusters; atoms of one molecule do not interact, and a pair within the box counts once.
static List everything() {
    List found;
    for (const Image &image : images())
        for (int sci = 0; sci < CLUSTERS / 8; ++sci) {
            const bool central = image.index == gmx::c_centralShiftIndex;
            const int begin = int(found.cj4.size());
            for (int first = central ? 8 * sci : 0; first < CLUSTERS; first += 4) {
                nbnxn_cj4_t group = {};
                for (int half = 0; half < 2; ++half) {
                    nbnxn_excl_t allowed;
                    for (int bit = 0; bit < 32; ++bit) {
                        const int ci = 8 * sci + bit % 8, cj = first + bit / 8;
                        group.cj[bit / 8] = cj;
                        if (!central || cj >= ci)
                            group.imei[half].imask |= 1u << bit;
                        for (int lane = 0; central && lane < 32; ++lane)
                            if (const int i = 8 * ci + lane % 8, j = 8 * cj + 4 * half + lane / 8; i / 3 == j / 3 || j <= i)
                                allowed.pair[lane] &= ~(1u << bit);
                    }
                    if (central) {
                        group.imei[half].excl_ind = int(found.excl.size());
                        found.excl.push_back(allowed);
                    }
                }
                found.cj4.push_back(group);
            }
            found.sci.push_back({sci, image.index, begin, int(found.cj4.size())});
        }
    return found;
}

enum Electric { CUT, FIELD, EWALD };
enum Mixing { GEOMETRIC, LORENTZ };

struct Model {
    const char *name;
    Electric electric;
    Mixing mixing;
    bool switched;
    void (*forces)(NBAtomDataGpu, NBParamGpu, Nbnxm::gpu_plist, bool);
    void (*energies)(NBAtomDataGpu, NBParamGpu, Nbnxm::gpu_plist, bool);
};

#define BOTH(electric, vdw) nbnxn_kernel_Elec##electric##_Vdw##vdw##_F_cuda, nbnxn_kernel_Elec##electric##_Vdw##vdw##_VF_cuda
static const Model MODELS[] = {
    {"cutoff, table of Lennard-Jones", CUT, GEOMETRIC, false, BOTH(Cut, LJ)},
    {"reaction field, geometric mixing", FIELD, GEOMETRIC, false, BOTH(RF, LJCombGeom)},
    {"Ewald, Lorentz and Berthelot's mixing", EWALD, LORENTZ, false, BOTH(Ew, LJCombLB)},
    {"Ewald with a table", EWALD, GEOMETRIC, false, BOTH(EwQSTab, LJ)},
    {"Ewald, switched Lennard-Jones", EWALD, GEOMETRIC, true, BOTH(Ew, LJPsw)},
};

struct Sums {
    std::vector<Vector> force = std::vector<Vector>(ATOMS), shift = std::vector<Vector>(gmx::c_numShiftVectors);
    double lj = 0, electric = 0, size = 0; // size: the sum of all terms without sign
};

static double c6(Mixing mixing, int a, int b) {
    const double sigma = mixing == GEOMETRIC ? std::sqrt(SIGMA[a] * SIGMA[b]) : (SIGMA[a] + SIGMA[b]) / 2;
    return 4 * std::sqrt(EPSILON[a] * EPSILON[b]) * std::pow(sigma, 6);
}

static double c12(Mixing mixing, int a, int b) {
    return c6(mixing, a, b) * c6(mixing, a, b) / (4 * std::sqrt(EPSILON[a] * EPSILON[b]));
}

static double ewald_force(double r) {
    return std::erf(BETA * r) / (r * r) - 2 * BETA / std::sqrt(PI) * std::exp(-BETA * BETA * r * r) / r;
}

static Sums summed(const Model &model, const std::vector<float4> &atoms) {
    Sums found;
    auto energy = [&](double &sum, double term) {
        sum += term;
        found.size += std::fabs(term);
    };
    const double shift = 1 / CUTOFF + (model.electric == FIELD) * REACTION_FIELD * CUTOFF * CUTOFF;
    const double self[] = {-shift / 2, -shift / 2, -BETA / std::sqrt(PI)}, width = CUTOFF - SWITCH;
    for (const float4 &atom : atoms)
        energy(found.electric, EPSFAC * atom.w * atom.w * self[model.electric]);
    for (const Image &image : images())
        for (int i = 0; i < ATOMS; ++i)
            for (int j = image.index == gmx::c_centralShiftIndex ? i + 1 : 0; j < ATOMS; ++j) {
                const Vector d = between(atoms, i, j, image);
                const double r2 = square(d), r = std::sqrt(r2), q = EPSFAC * atoms[i].w * atoms[j].w;
                if (r >= CUTOFF)
                    continue;
                const bool apart = image.index != gmx::c_centralShiftIndex || i / 3 != j / 3;
                double push = 0; // the force, over r
                if (model.electric == EWALD) {
                    push = q * ((apart ? 1 / r2 : 0) - ewald_force(r)) / r;
                    energy(found.electric, q * ((apart - std::erf(BETA * r)) / r - apart * std::erfc(BETA * CUTOFF) / CUTOFF));
                } else {
                    const double field = model.electric == FIELD ? REACTION_FIELD : 0;
                    push = q * (apart / (r2 * r) - 2 * field);
                    energy(found.electric, q * (apart / r + field * r2 - shift));
                }
                if (apart) {
                    const double a = c6(model.mixing, kind(i), kind(j)), b = c12(model.mixing, kind(i), kind(j));
                    const double inv6 = 1 / (r2 * r2 * r2);
                    const double cut6 = model.switched ? 0 : std::pow(CUTOFF, -6);
                    double value = b * (inv6 * inv6 - cut6 * cut6) - a * (inv6 - cut6), lj = (12 * b * inv6 - 6 * a) * inv6 / r2;
                    if (const double t = (r - SWITCH) / width; model.switched && t > 0) {
                        const double factor = 1 - t * t * t * (10 - 15 * t + 6 * t * t);
                        const double slope = -30 * t * t * (1 - t) * (1 - t) / width;
                        lj = lj * factor - value * slope / r;
                        value *= factor;
                    }
                    push += lj;
                    energy(found.lj, value);
                }
                for (int k = 0; k < 3; ++k) {
                    found.force[i][k] += push * d[k];
                    found.force[j][k] -= push * d[k];
                    if (image.index != gmx::c_centralShiftIndex)
                        found.shift[image.index][k] += push * d[k];
                }
            }
    return found;
}

// The largest difference of forces, and the largest force.
static void compare(const char *kernel, const char *what, const std::vector<float3> &found, const std::vector<Vector> &wanted) {
    double error = 0, largest = 0;
    for (size_t i = 0; i < wanted.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            const double value = (&found[i].x)[k];
            error = std::fmax(error, std::isfinite(value) ? std::fabs(value - wanted[i][k]) : INFINITY);
            largest = std::fmax(largest, std::fabs(wanted[i][k]));
        }
    check(kernel, what, error / largest, 2e-5);
}

static NBParamGpu parameters(const Model &model) {
    NBParamGpu found = {};
    found.epsfac = EPSFAC;
    found.c_rf = 1 / CUTOFF + (model.electric == FIELD) * REACTION_FIELD * CUTOFF * CUTOFF;
    found.two_k_rf = 2 * REACTION_FIELD;
    found.ewald_beta = BETA;
    found.sh_ewald = std::erfc(BETA * CUTOFF) / CUTOFF;
    found.rcoulomb_sq = found.rvdw_sq = CUTOFF * CUTOFF;
    found.rvdw_switch = SWITCH;
    found.rlistOuter_sq = found.rlistInner_sq = LIST * LIST;
    const double width = CUTOFF - SWITCH;
    found.vdw_switch = {float(-10 / std::pow(width, 3)), float(15 / std::pow(width, 4)), float(-6 / std::pow(width, 5))};
    if (!model.switched) {
        found.dispersion_shift.cpot = -std::pow(CUTOFF, -6);
        found.repulsion_shift.cpot = -std::pow(CUTOFF, -12);
    }
    std::vector<Float2> table;
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
            table.push_back({float(6 * c6(model.mixing, a, b)), float(12 * c12(model.mixing, a, b))});
    found.nbfp = device(table);
    std::vector<float> forces = {0};
    found.coulomb_tab_scale = TABLE_SCALE;
    for (int i = 1; i < CUTOFF * TABLE_SCALE + 2; ++i)
        forces.push_back(ewald_force(i / TABLE_SCALE));
    found.coulomb_tab = device(forces);
    return found;
}

static NBAtomDataGpu data(const Model &model, const std::vector<float4> &atoms) {
    std::vector<int> types;
    std::vector<Float2> mixed;
    for (int i = 0; i < ATOMS; ++i) {
        const int type = kind(i);
        types.push_back(type);
        if (model.mixing == GEOMETRIC)
            mixed.push_back({float(std::sqrt(6 * c6(GEOMETRIC, type, type))), float(std::sqrt(12 * c12(GEOMETRIC, type, type)))});
        else
            mixed.push_back({float(std::pow(2, 1 / 6.0) * SIGMA[type] / 2), float(std::sqrt(12 * EPSILON[type]))});
    }
    std::vector<float3> shifts(gmx::c_numShiftVectors);
    for (const Image &image : images())
        shifts[image.index] = make_float3(image.shift[0], image.shift[1], image.shift[2]);
    NBAtomDataGpu found = {};
    found.numAtoms = found.numAtomsLocal = found.numAtomsAlloc = ATOMS;
    found.numTypes = 2;
    found.xq = reinterpret_cast<Float4 *>(device(atoms));
    found.f = reinterpret_cast<Float3 *>(device(std::vector<float3>(ATOMS)));
    found.fShift = reinterpret_cast<Float3 *>(device(std::vector<float3>(gmx::c_numShiftVectors)));
    found.shiftVec = reinterpret_cast<Float3 *>(device(shifts));
    found.eLJ = device(std::vector<float>(1));
    found.eElec = device(std::vector<float>(1));
    found.atomTypes = device(types);
    found.ljComb = device(mixed);
    return found;
}

static Image placed(int index) {
    for (const Image &image : images())
        if (image.index == index)
            return image;
    return {};
}

// Bits of pairs of clusters with a pair of atoms within LIST.
static void check_list(const std::vector<float4> &atoms, const List &all, const std::vector<nbnxn_cj4_t> &thinned) {
    int differ = 0, kept = 0, before = 0;
    for (const nbnxn_sci_t &entry : all.sci) {
        const Image image = placed(entry.shift);
        for (int at = entry.cj4_ind_start; at < entry.cj4_ind_end; ++at)
            for (int half = 0; half < 2; ++half) {
                unsigned wanted = 0;
                for (int bit = 0; bit < 32; ++bit)
                    for (int lane = 0; lane < 32; ++lane) {
                        const int i = 8 * (8 * entry.sci + bit % 8) + lane % 8;
                        const int j = 8 * all.cj4[at].cj[bit / 8] + 4 * half + lane / 8;
                        if (square(between(atoms, i, j, image)) < LIST * LIST)
                            wanted |= 1u << bit;
                    }
                wanted &= all.cj4[at].imei[half].imask;
                differ += wanted != thinned[at].imei[half].imask;
                kept += __builtin_popcount(wanted);
                before += __builtin_popcount(all.cj4[at].imei[half].imask);
            }
    }
    printf("%d of %d pairs of clusters are near\n", kept, before);
    check("list", "entries", differ + !(kept > 0 && kept < before), 0);
}

int main() {
    const std::vector<float4> atoms = water();
    const List all = everything();
    Nbnxm::gpu_plist list = {};
    list.na_c = 8;
    list.nsci = int(all.sci.size());
    list.ncj4 = int(all.cj4.size());
    list.sci = device(all.sci);
    list.cj4 = device(all.cj4);
    list.excl = device(all.excl);
    list.imask = device(std::vector<unsigned>(2 * all.cj4.size()));
    const int shared = 64 * sizeof(float4) + 4 * 8 * sizeof(int) + 64 * sizeof(float2);
    const dim3 pruning(8, 8, c_pruneKernelJ4Concurrency);
    nbnxn_kernel_prune_cuda<true><<<list.nsci, pruning, shared>>>(data(MODELS[0], atoms), parameters(MODELS[0]), list, 1, 0);
    check_list(atoms, all, host<nbnxn_cj4_t>(list.cj4, all.cj4.size()));
    for (const Model &model : MODELS) {
        const Sums wanted = summed(model, atoms);
        const NBParamGpu settings = parameters(model);
        for (const bool energies : {false, true}) {
            const NBAtomDataGpu box = data(model, atoms);
            (energies ? model.energies : model.forces)<<<list.nsci, dim3(8, 8), shared>>>(box, settings, list, true);
            compare(model.name, "forces", host<float3>(box.f, ATOMS), wanted.force);
            compare(model.name, "forces between boxes", host<float3>(box.fShift, gmx::c_numShiftVectors), wanted.shift);
            if (energies) {
                const double lj = host<float>(box.eLJ, 1)[0] - wanted.lj, electric = host<float>(box.eElec, 1)[0] - wanted.electric;
                check(model.name, "energies of Lennard-Jones", std::fabs(lj) / wanted.size, 1e-6);
                check(model.name, "electric energies", std::fabs(electric) / wanted.size, 1e-6);
            }
        }
    }
    puts(wrong ? "wrong" : "right");
}
