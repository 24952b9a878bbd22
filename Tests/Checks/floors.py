"""The targets of each floor and what they may import: docs/architecture.md."""

CORE = {
    "Media": set(),
    "Bitstream": {"Media"},
    "RTMP": {"Bitstream", "Media"},
    "StreamQuality": {"Media"},
    "Controls": {"Media"},
    "Filters": {"Media"},
    "USBVideo": {"Controls", "Media"},
    "Settings": {"Controls", "Filters", "Media"},
    "StreamLogic": {"StreamQuality", "Settings", "Controls", "Filters", "Bitstream", "Media"},
    "ApplianceLogic": {"StreamLogic", "Settings", "Media"},
}
# What a core target may have besides: pure Swift packages.
CORE_PACKAGES = {"StreamQuality": {"DequeModule"}}
# The rim's targets and the C modules that each of them wraps.
RIM = {
    "LinuxIO": {"CLinux"},
    "SoftwareEncoding": {"COpenH264", "CLibYUV", "CTranspose", "CJPEG", "CFDKAAC"},
    "FrameFiltering": {"CFilterKernels", "CFreeType", "CPNG", "CJPEG"},
    "AudioCapture": {"CALSA", "CResampler"},
    "Transport": {"CLinux", "CMbedTLS"},
    "SyntheticSources": set(),
    "FileSources": {"COpenH264", "CFDKAAC", "CJPEG", "CPNG", "CLibYUV"},
    "JSONText": {"CRapidJSON"},
    "LibcameraCapture": {"CLibcamera"},
    "V4L2Devices": {"CLinux", "CV4LConvert"},
    "BoardIO": {"CGPIOD", "CLinux"},
    "DisplayOutput": {"CDRM", "CLibYUV"},
}
# The engines: threads around the core. Only the executable knows cameras, microphones and hardware encoders.
ENGINES = {
    "MediaPipeline": {
        "StreamLogic", "StreamQuality", "Bitstream", "Controls", "Filters", "FrameFiltering", "DevicePorts", "LinuxIO",
        "SoftwareEncoding", "SyntheticSources", "Media",
    },
    "WebcamService": {
        "USBVideo", "StreamQuality", "Controls", "Filters", "FrameFiltering", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media",
    },
    "Publishing": {
        "MediaPipeline", "StreamLogic", "StreamQuality", "RTMP", "Bitstream", "Transport", "Settings", "Controls",
        "Filters", "FrameFiltering", "LinuxIO", "Media",
    },
    "Receiving": {"StreamLogic", "RTMP", "Bitstream", "Transport", "LinuxIO", "Media"},
    "Terminal": {"StreamLogic", "StreamQuality", "Controls", "Filters", "JSONText", "LinuxIO", "Media"},
    "ApplianceRuntime": {
        "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings", "Controls", "Filters", "FrameFiltering",
        "JSONText", "BoardIO", "Transport", "Terminal", "DevicePorts", "USBVideo", "LinuxIO", "Media",
    },
}  # fmt: skip
