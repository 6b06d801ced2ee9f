"""Run by suites.py under `ptx2amd run`: Cycles of Blender renders scenes on the GPU, each image against the CPU's."""

import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import bpy
import cases
import numpy as np

SIZE, SAMPLES = 32, 4
FOLDER = Path(tempfile.mkdtemp(prefix="cycles-"))


def start() -> None:
    """An empty scene with a camera that looks at the origin, and a sun."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (0, -6, 2.5), (math.radians(68), 0, 0)
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 3, (0.6, 0.4, 0)
    for thing in (camera, sun):
        scene.collection.objects.link(thing)
    scene.camera, scene.world = camera, bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.2, 0.3, 0.5, 1)
    bpy.ops.mesh.primitive_plane_add(size=12, location=(0, 0, -1))


def ball(location: tuple[float, float, float] = (0, 0, 0), **inputs: object) -> bpy.types.Material:
    """A smooth sphere, and its material with some inputs of the principled shader."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=12, location=location)
    bpy.ops.object.shade_smooth()
    material = bpy.data.materials.new("material")
    material.use_nodes = True
    for name, value in inputs.items():
        material.node_tree.nodes["Principled BSDF"].inputs[name.replace("_", " ")].default_value = value
    bpy.context.object.data.materials.append(material)
    return material


def linked(material: bpy.types.Material, kind: str, output: str, socket: str = "Base Color") -> bpy.types.Node:
    """A node of the kind that feeds a socket of the principled shader."""
    tree = material.node_tree
    node = tree.nodes.new(kind)
    tree.links.new(node.outputs[output], tree.nodes["Principled BSDF"].inputs[socket])
    return node


def diffuse() -> None:
    ball(Base_Color=(0.8, 0.2, 0.1, 1))


def metal_and_glass() -> None:
    ball((-1.1, 0, 0), Metallic=1.0, Roughness=0.2)
    ball((1.1, 0, 0), Transmission_Weight=1.0, Roughness=0.0)


def procedural() -> None:
    """Noise, waves and Voronoi cells: the nodes' interpreter in the kernel."""
    linked(ball((-2.1, 0, 0)), "ShaderNodeTexNoise", "Color")
    linked(ball((0, 0, 0)), "ShaderNodeTexVoronoi", "Color")
    linked(ball((2.1, 0, 0)), "ShaderNodeTexWave", "Color")


def textured() -> None:
    """An image texture: a texture object."""
    image = bpy.data.images.new("squares", 16, 16)
    cells = np.indices((16, 16)).sum(0) // 2 % 2
    image.pixels = np.dstack([cells, 1 - cells, cells / 2, np.ones((16, 16))]).astype(np.float32).ravel()
    linked(ball(), "ShaderNodeTexImage", "Color").image = image


def lamps() -> None:
    """Light of a lamp with an area, of a point, and of a glowing ball."""
    for kind, location in (("AREA", (-2, -1, 2)), ("POINT", (2, -2, 1))):
        light = bpy.data.objects.new(kind, bpy.data.lights.new(kind, kind))
        light.data.energy, light.location = 80, location
        bpy.context.scene.collection.objects.link(light)
    ball((0, 0, 0), Emission_Color=(1, 0.6, 0.2, 1), Emission_Strength=2.0)


def scattering() -> None:
    """Light that walks below the surface."""
    ball(Base_Color=(0.9, 0.6, 0.5, 1), Subsurface_Weight=1.0)


def fog() -> None:
    """A volume within a cube."""
    bpy.ops.mesh.primitive_cube_add(size=1.8)
    material = bpy.data.materials.new("fog")
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    volume, output = tree.nodes.new("ShaderNodeVolumePrincipled"), tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(volume.outputs["Volume"], output.inputs["Volume"])
    bpy.context.object.data.materials.append(material)


def render(device: str) -> np.ndarray:
    scene, cycles = bpy.context.scene, bpy.context.scene.cycles
    scene.render.engine, cycles.device = "CYCLES", device
    cycles.samples, cycles.seed, cycles.use_denoising, cycles.use_adaptive_sampling = SAMPLES, 1, False, False
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.image_settings.file_format, scene.render.filepath = "OPEN_EXR", str(FOLDER / f"{device}.exr")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath, check_existing=False)
    return np.array(image.pixels[:]).reshape(SIZE, SIZE, 4)[..., :3]


def gpu() -> None:
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.compute_device_type = "CUDA"
    preferences.refresh_devices()
    for device in preferences.devices:
        device.use = device.type == "CUDA"
    assert any(device.use for device in preferences.devices)


def same(build: Callable[[], None]) -> Callable[[], None]:
    """A case: the image differs from the CPU's in few places (paths part where a rounding decides), and by little."""

    def check() -> None:
        start()
        build()
        gpu()
        want, got = render("CPU"), render("GPU")
        assert got.std() > 0.02, "the image is empty"
        apart = (np.abs(got - want) > 0.01 + 0.01 * np.abs(want)).any(-1).mean()
        assert apart < 0.05 and abs(got.mean() - want.mean()) < 0.01 * want.mean(), f"{apart:.1%} of the pixels differ"

    return check


SCENES = (diffuse, metal_and_glass, procedural, textured, lamps, scattering, fog)
wanted = sys.argv[1:]
cases.run({s.__name__.replace("_", "-"): same(s) for s in SCENES if not wanted or s.__name__ in wanted})
