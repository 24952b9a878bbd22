"""The targets of each floor and what they may import: docs/explain/architecture.md."""

CORE = {
    "Media": set(),
    "TimeZones": {"Media"},
    "Bitstream": {"Media"},
    "RTMP": {"Bitstream", "Media"},
    "StreamQuality": {"Media"},
    "Controls": {"Media"},
    "Filters": {"TimeZones", "Media"},
    "USBVideo": {"Controls", "Media"},
    "Settings": {"Controls", "Filters", "TimeZones", "Media"},
    "StreamLogic": {"StreamQuality", "Settings", "Controls", "Filters", "Bitstream", "Media"},
    "RecordingLogic": {"Bitstream", "Media"},
    "ApplianceLogic": {"RecordingLogic", "StreamLogic", "Settings", "Media"},
}
# Pure Swift packages that a core target may import in addition.
CORE_PACKAGES = {"StreamQuality": {"DequeModule"}}
# The rim's targets, each with the C modules that it wraps.
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
# The engines: threads around the core. Only the executable imports cameras, microphones and hardware encoders.
ENGINES = {
    "VideoCapture": {"StreamLogic", "Controls", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media"},
    "Encoding": {"StreamLogic", "StreamQuality", "Bitstream", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media"},
    "MediaPipeline": {
        "VideoCapture", "Encoding", "StreamLogic", "StreamQuality", "Bitstream", "Controls", "Filters",
        "FrameFiltering", "DevicePorts", "LinuxIO", "SoftwareEncoding", "SyntheticSources", "Media",
    },
    "WebcamService": {
        "ApplianceLogic", "StreamLogic", "Settings", "USBVideo", "StreamQuality", "Controls", "Filters",
        "FrameFiltering", "JSONText", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media",
    },
    "Publishing": {
        "MediaPipeline", "Encoding", "StreamLogic", "StreamQuality", "RTMP", "Bitstream", "Transport", "Settings",
        "Controls", "Filters", "FrameFiltering", "LinuxIO", "Media",
    },
    "FilePublishing": {
        "Publishing", "FileSources", "Terminal", "StreamLogic", "StreamQuality", "RTMP", "Bitstream", "Transport",
        "Settings", "LinuxIO", "Media",
    },
    "Recording": {
        "RecordingLogic", "Encoding", "StreamQuality", "Bitstream", "JSONText", "Settings", "LinuxIO", "Media",
    },
    "Receiving": {
        "Recording", "RecordingLogic", "StreamLogic", "RTMP", "Bitstream", "Transport", "LinuxIO", "Media",
    },
    "Terminal": {"StreamLogic", "StreamQuality", "Controls", "Filters", "TimeZones", "JSONText", "LinuxIO", "Media"},
    "CardStorage": {
        "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings", "Filters", "FrameFiltering", "JSONText",
        "Transport", "LinuxIO", "Media",
    },
    "BoardRuntime": {"ApplianceLogic", "Settings", "BoardIO", "LinuxIO", "Media"},
    "DeviceStreams": {
        "CardStorage", "WebcamService", "Encoding", "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings", "Controls",
        "DevicePorts", "USBVideo", "LinuxIO", "Media",
    },
    "Diagnosis": {
        "CardStorage", "BoardRuntime", "DeviceStreams", "Recording", "RecordingLogic", "ApplianceLogic", "StreamLogic",
        "Settings", "JSONText", "BoardIO", "RTMP", "Transport", "LinuxIO", "Media",
    },
    "CommandChannels": {
        "Diagnosis", "WebcamService", "Terminal", "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings", "Controls",
        "Filters", "JSONText", "LinuxIO", "Media",
    },
    "ApplianceRuntime": {
        "CommandChannels", "Diagnosis", "CardStorage", "BoardRuntime", "DeviceStreams", "WebcamService", "Recording",
        "RecordingLogic", "Terminal", "ApplianceLogic", "StreamLogic",
        "StreamQuality", "Settings", "Controls", "Filters", "JSONText", "BoardIO", "Transport", "DevicePorts",
        "USBVideo", "LinuxIO", "Media",
    },
}  # fmt: skip
# The executable and its devices: they may import every target below.
EXECUTABLE = {"MachineDevices", "tallycam"}
