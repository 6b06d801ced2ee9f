"""Run by suites.py under `ptx2amd run`: FFmpeg's CUDA filters against its CPU filters, frame by frame. FFmpeg itself
compares: its psnr filter gives the distance in dB ("inf": the same bits)."""

import re
import subprocess

import cases
import imageio_ffmpeg

SOURCE = "testsrc2=s=320x180:d=0.12,format={pixels}"


def case(cuda: str, cpu: str, least: float = 40.0, pixels: str = "yuv420p", source: str = SOURCE):
    """cuda and cpu: filter chains that should give the same picture; least: dB; pixels: the format of both."""
    graph = (
        f"split[a][b];[a]hwupload,{cuda},hwdownload,format={pixels}[x];[b]{cpu},format={pixels}[y];[x][y]psnr"
    )  # fmt: skip
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "info", "-init_hw_device", "cuda=c", "-filter_hw_device", "c"]
    command += ["-f", "lavfi", "-i", source.format(pixels=pixels), "-lavfi", graph, "-f", "null", "-"]

    def run() -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found = re.search(r"average:([0-9.]+|inf)", done.stderr)
        assert done.returncode == 0 and found, done.stderr[-600:]
        assert float(found[1]) >= least, f"{found[1]} dB"

    return run


def scale(size: str, algorithm: str, cpu: str, pixels: str = "yuv420p", least: float = 40.0):
    return case(f"scale_cuda={size}:interp_algo={algorithm}", f"scale={size}:flags={cpu}", least, pixels)


CASES = {
    **{
        f"scale-{algorithm}-{size}": scale(size, algorithm, cpu)
        for size in ("160:90", "640:360", "321:181")
        for algorithm, cpu in (("nearest", "neighbor"), ("bilinear", "bilinear"), ("bicubic", "bicubic"), ("lanczos", "lanczos"))
    },
    "scale-nv12": scale("640:360", "bilinear", "bilinear", "nv12"),
    "scale-p010": scale("640:360", "bilinear", "bilinear", "p010le"),
    "scale-yuv444p": scale("640:360", "bicubic", "bicubic", "yuv444p"),
    "convert-nv12": case("scale_cuda=format=nv12,scale_cuda=format=yuv420p", "null", 60.0),
    "yadif": case("yadif_cuda", "yadif"),
    "bwdif": case("bwdif_cuda", "bwdif"),
    "transpose": case("transpose_cuda=1", "transpose=1", 200.0),
    "pad": case("pad_cuda=400:240:10:10", "pad=400:240:10:10", 200.0),
    "thumbnail": case("thumbnail_cuda=2", "thumbnail=2", 200.0),
    "bilateral": case("bilateral_cuda=sigmaS=3:sigmaR=10:window_size=5", "bilateral=sigmaS=3:sigmaR=0.1", 25.0),
    "colorspace": case("colorspace_cuda=range=pc", "scale=in_range=tv:out_range=pc", 35.0),
    "overlay": case("split[p][q];[p][q]overlay_cuda=20:10", "split[r][s];[r][s]overlay=20:10", 40.0),
}  # fmt: skip
cases.run(CASES)
