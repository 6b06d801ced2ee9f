"""Run by suites.py under `ptx2amd run`: FFmpeg's CUDA filters against its CPU filters, frame by frame. FFmpeg itself
compares: its psnr filter gives the distance in dB ("inf": the same bits)."""

import re
import subprocess

import cases
import imageio_ffmpeg

SOURCE = "testsrc2=s=320x180:d=0.12,format={pixels}"


def case(cuda: str, cpu: str, least: float = 40.0, pixels: str = "yuv420p"):
    """cuda and cpu: filter chains that should give the same picture; least: dB; pixels: the format of both."""
    graph = f"split[a][b];[a]hwupload,{cuda},hwdownload,format={pixels}[x];[b]{cpu},format={pixels}[y];[x][y]psnr"
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "info", "-init_hw_device", "cuda=c", "-filter_hw_device", "c"]
    command += ["-f", "lavfi", "-i", SOURCE.format(pixels=pixels), "-lavfi", graph, "-f", "null", "-"]

    def run() -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found = re.search(r"average:([0-9.]+|inf)", done.stderr)
        assert done.returncode == 0 and found, done.stderr[-600:]
        assert float(found[1]) >= least, f"{found[1]} dB"

    return run


def scale(size: str, algorithm: str, cpu: str, least: float, pixels: str = "yuv444p"):
    exact = "+accurate_rnd+full_chroma_int"
    return case(f"scale_cuda={size}:interp_algo={algorithm}", f"scale={size}:flags={cpu}{exact}", least, pixels)


SIZES = "160:90", "321:181", "640:360"


CASES = {
    # Formats without subsampling: the two scalers place subsampled chroma differently. FFmpeg's CUDA scaler enlarges
    # with nearest samples where it says bilinear (it reads the texture as integers), and lets Lanczos wrap around
    # above 255 where it shrinks: both are in its kernels, so neither is compared here.
    **{f"nearest-{size}": scale(size, "nearest", "neighbor", 200.0) for size in SIZES},
    **{f"{name}-{size}": scale(size, name, name, 38.0) for name in ("bicubic", "lanczos") for size in SIZES[1:]},
    "bicubic-160:90": scale("160:90", "bicubic", "bicubic", 38.0),
    "bilinear-160:90": scale("160:90", "bilinear", "bilinear", 50.0),
    "16-bit": scale("321:181", "bicubic", "bicubic", 38.0, "yuv444p16le"),
    "nv12": case("scale_cuda=160:90:interp_algo=bilinear", "scale=160:90:flags=bilinear", 40.0, "nv12"),
    "p010": case("scale_cuda=160:90:interp_algo=bilinear", "scale=160:90:flags=bilinear", 40.0, "p010le"),
    "convert-nv12": case("scale_cuda=format=nv12,scale_cuda=format=yuv420p", "null", 60.0),
    "yadif": case("yadif_cuda", "yadif"),
    "bwdif": case("bwdif_cuda", "bwdif=mode=send_frame"),
    "transpose": case("transpose_cuda=1", "transpose=1", 200.0),
    "pad": case("pad_cuda=400:240:10:10", "pad=400:240:10:10", 200.0),
    "thumbnail": case("thumbnail_cuda=2", "thumbnail=2", 200.0),
    "bilateral": case("bilateral_cuda=sigmaS=3:sigmaR=10:window_size=5", "bilateral=sigmaS=3:sigmaR=0.1", 25.0),
    "full-range": case(
        "colorspace_cuda=range=pc,setparams=range=tv",
        "scale=in_range=tv:out_range=pc,setparams=range=tv", 45.0, "yuv444p",
    ),
    "overlay": case(
        "split[p][q];[q]hwdownload,format=yuv420p,crop=100:60:0:0,hwupload[s];[p][s]overlay_cuda=20:10",
        "split[p][q];[q]crop=100:60:0:0[s];[p][s]overlay=20:10", 200.0,
    ),
}  # fmt: skip
cases.run(CASES)
