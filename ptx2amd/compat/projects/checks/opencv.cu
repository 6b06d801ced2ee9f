// OpenCV's templates of kernels (cudev) on an image, against loops on the CPU.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
#include <opencv2/cudev.hpp>

using namespace cv::cudev;
namespace cv { // two functions of the library, which is not built
void error(int, const String &text, const char *, const char *file, int line) {
    printf("%s:%d: %s\n", file, line, text.c_str());
    exit(1);
}
namespace cuda {
bool deviceSupports(FeatureSet wanted) { return wanted <= FEATURE_SET_COMPUTE_50; }
} // namespace cuda
} // namespace cv

enum { ROWS = 45, COLS = 67, BINS = 256, HALF_ROWS = (ROWS + 1) / 2, HALF_COLS = (COLS + 1) / 2 };
static int wrong;

template <typename T> struct Image {
    int rows, cols;
    GlobPtr<T> data;
    explicit Image(int rows = ROWS, int cols = COLS) : rows(rows), cols(cols) {
        cudaMallocManaged(&data.data, sizeof(T) * rows * cols);
        data.step = sizeof(T) * cols;
        cudaMemset(data.data, 0xa5, sizeof(T) * rows * cols);
        cudaDeviceSynchronize();
    }
    T &at(int y, int x) { return data.data[y * cols + x]; }
};

template <typename T> static void check(const char *what, Image<T> &got, std::function<double(int, int)> want, double limit = 0) {
    cudaError_t error = cudaDeviceSynchronize();
    int bad = error != cudaSuccess;
    for (int y = 0; y < got.rows && !error; y++)
        for (int x = 0; x < got.cols; x++)
            bad += !(std::fabs(got.at(y, x) - want(y, x)) <= limit);
    printf("%s: %d wrong %s\n", what, bad, error ? cudaGetErrorString(error) : "");
    wrong += bad;
}

struct Scaled {
    __device__ float operator()(uchar value) const { return 1.5f * value + 0.25f; }
};

static int mirrored(int at, int size) { return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at; }

int main() {
    Image<uchar> a, b, mask;
    Image<uchar3> colours;
    srand(1);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++) {
            a.at(y, x) = rand(), b.at(y, x) = rand(), mask.at(y, x) = rand() % 3;
            colours.at(y, x) = make_uchar3(rand(), rand(), rand());
        }

    Image<float> scaled;
    grid_transform_detail::transform_unary<DefaultTransformPolicy>(a.data, scaled.data, Scaled(), WithOutMask(), ROWS, COLS, 0);
    check("unary", scaled, [&](int y, int x) { return 1.5 * a.at(y, x) + 0.25; });

    Image<uchar> distance;
    grid_transform_detail::transform_binary<DefaultTransformPolicy>(a.data, b.data, distance.data, absdiff_func<int>(), mask.data, ROWS, COLS, 0);
    check("binary with a mask", distance, [&](int y, int x) { return mask.at(y, x) ? std::abs(a.at(y, x) - b.at(y, x)) : 0xa5; });

    Image<uchar> grey;
    grid_transform_detail::transform_unary<DefaultTransformPolicy>(colours.data, grey.data, BGR_to_GRAY_func<uchar>(), WithOutMask(), ROWS, COLS, 0);
    check("grey", grey, [&](int y, int x) {
        const uchar3 c = colours.at(y, x);
        return 0.114 * c.x + 0.587 * c.y + 0.299 * c.z;
    }, 0.51);

    Image<uchar> turned(COLS, ROWS);
    transpose_detail::transpose<DefaultTransposePolicy>(a.data, turned.data, ROWS, COLS, 0);
    check("transpose", turned, [&](int y, int x) { return a.at(x, y); });

    Image<uint> sum(1, 1);
    sum.at(0, 0) = 0;
    grid_reduce_detail::sum<DefaultGlobReducePolicy>(a.data, sum.data.data, mask.data, ROWS, COLS, 0);
    check("sum with a mask", sum, [&](int, int) {
        double all = 0;
        for (int i = 0; i < ROWS * COLS; i++)
            all += mask.data.data[i] ? a.data.data[i] : 0;
        return all;
    });

    Image<uint> bins(1, BINS);
    cudaMemset(bins.data.data, 0, sizeof(uint) * BINS);
    grid_histogram_detail::histogram<BINS, DefaultHistogramPolicy>(a.data, bins.data.data, WithOutMask(), ROWS, COLS, 0);
    check("histogram", bins, [&](int, int bin) {
        int count = 0;
        for (int i = 0; i < ROWS * COLS; i++)
            count += a.data.data[i] == bin;
        return count;
    });

    Image<uint> integral;
    integral_detail::integral(a.data, integral.data, ROWS, COLS, 0);
    check("integral", integral, [&](int y, int x) {
        double all = 0;
        for (int i = 0; i <= y; i++)
            for (int j = 0; j <= x; j++)
                all += a.at(i, j);
        return all;
    });

    Image<int> row(1, COLS), column(1, ROWS);
    grid_reduce_to_vec_detail::reduceToRow<Sum<int>>(a.data, row.data.data, WithOutMask(), ROWS, COLS, 0);
    check("rows added", row, [&](int, int x) {
        int all = 0;
        for (int y = 0; y < ROWS; y++)
            all += a.at(y, x);
        return all;
    });
    grid_reduce_to_vec_detail::reduceToColumn<Max<int>, DefaultReduceToVecPolicy>(a.data, column.data.data, WithOutMask(), ROWS, COLS, 0);
    check("largest of a row", column, [&](int, int y) {
        int most = 0;
        for (int x = 0; x < COLS; x++)
            most = std::max<int>(most, a.at(y, x));
        return most;
    });

    Image<float> half(HALF_ROWS, HALF_COLS);
    pyramids_detail::pyrDown<BrdReflect101>(scaled.data, half.data, ROWS, COLS, HALF_ROWS, HALF_COLS, 0);
    check("half of the size", half, [&](int y, int x) {
        const double weights[] = {1, 4, 6, 4, 1};
        double all = 0;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                all += weights[i] * weights[j] / 256 * scaled.at(mirrored(2 * y + i - 2, ROWS), mirrored(2 * x + j - 2, COLS));
        return all;
    }, 1e-3);

    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
