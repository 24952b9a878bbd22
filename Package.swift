// swift-tools-version: 6.0
// Targets and who may import whom: docs/explain/architecture.md; Tests/Checks enforces it.
import PackageDescription

let package = Package(
    name: "tallycam",
    products: [.executable(name: "tallycam", targets: ["tallycam"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0")
    ],
    targets: [
        // Core: pure; no Glibc, no Foundation, no C module, no clock.
        .target(name: "Media"),
        .target(name: "TimeZones", dependencies: ["Media"]),
        .target(name: "Bitstream", dependencies: ["Media"]),
        .target(name: "RTMP", dependencies: ["Bitstream", "Media"]),
        .target(name: "HTTP", dependencies: ["Media"]),
        .target(
            name: "StreamQuality",
            dependencies: ["Media", .product(name: "DequeModule", package: "swift-collections")]),
        .target(name: "Controls", dependencies: ["Media"]),
        .target(name: "Filters", dependencies: ["TimeZones", "Media"]),
        .target(name: "USBVideo", dependencies: ["Controls", "Media"]),
        .target(name: "Settings", dependencies: ["Controls", "Filters", "TimeZones", "Media"]),
        .target(
            name: "StreamLogic",
            dependencies: ["StreamQuality", "Settings", "Controls", "Filters", "Bitstream", "Media"]),
        .target(name: "PageLogic", dependencies: ["HTTP", "Media"]),
        .target(name: "RecordingLogic", dependencies: ["Bitstream", "Media"]),
        .target(name: "ApplianceLogic", dependencies: ["RecordingLogic", "StreamLogic", "Settings", "Media"]),

        // Ports and rim.
        .target(name: "DevicePorts", dependencies: ["Controls", "USBVideo", "Media"]),
        .target(name: "LinuxIO", dependencies: ["DevicePorts", "TimeZones", "CLinux", "Media"]),
        .target(
            name: "SoftwareEncoding",
            dependencies: [
                "DevicePorts", "Bitstream", "Media", "COpenH264", "CLibYUV", "CTranspose", "CFDKAAC", "CJPEG",
            ]),
        .target(
            name: "FrameFiltering",
            dependencies: [
                "Filters", "TimeZones", "DevicePorts", "LinuxIO", "Media", "CFilterKernels", "CFreeType", "CPNG",
                "CJPEG",
            ]),
        .target(
            name: "AudioCapture",
            dependencies: ["DevicePorts", "LinuxIO", "Media", "CALSA", "CResampler"]),
        .target(
            name: "LibcameraCapture", dependencies: ["DevicePorts", "LinuxIO", "Controls", "Media", "CLibcamera"]),
        .target(
            name: "V4L2Devices",
            dependencies: [
                "DevicePorts", "LinuxIO", "Bitstream", "Controls", "USBVideo", "Media", "CLinux", "CV4LConvert",
            ]),
        .target(name: "Transport", dependencies: ["DevicePorts", "LinuxIO", "Media", "CLinux", "CMbedTLS"]),
        .target(name: "PageFiles", dependencies: ["CPage", "CZlib"]),
        .target(name: "SyntheticSources", dependencies: ["DevicePorts", "LinuxIO", "Media"]),
        .target(
            name: "FileSources",
            dependencies: [
                "DevicePorts", "LinuxIO", "Bitstream", "Media", "COpenH264", "CFDKAAC", "CJPEG", "CPNG", "CLibYUV",
            ]),
        .target(name: "JSONText", dependencies: ["Settings", "LinuxIO", "CRapidJSON"]),
        .target(name: "BoardIO", dependencies: ["DevicePorts", "LinuxIO", "USBVideo", "Media", "CGPIOD", "CLinux"]),

        .target(
            name: "DisplayOutput", dependencies: ["DevicePorts", "LinuxIO", "StreamLogic", "Media", "CDRM", "CLibYUV"]),

        // Engines: threads around the core.
        .target(
            name: "VideoCapture",
            dependencies: ["StreamLogic", "Controls", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media"]),
        .target(
            name: "Encoding",
            dependencies: [
                "StreamLogic", "StreamQuality", "Bitstream", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media",
            ]),
        .target(
            name: "MediaPipeline",
            dependencies: [
                "VideoCapture", "Encoding", "StreamLogic", "StreamQuality", "Bitstream", "Controls", "Filters",
                "FrameFiltering", "DevicePorts",
                "LinuxIO", "SoftwareEncoding", "SyntheticSources", "Media",
            ]),
        .target(
            name: "WebcamService",
            dependencies: [
                "ApplianceLogic", "StreamLogic", "Settings", "USBVideo", "StreamQuality", "Controls", "Filters",
                "FrameFiltering", "JSONText", "DevicePorts", "LinuxIO", "SoftwareEncoding", "Media",
            ]),
        .target(
            name: "CardStorage",
            dependencies: [
                "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings", "Filters", "FrameFiltering", "JSONText",
                "Transport", "LinuxIO", "Media",
            ]),
        .target(
            name: "BoardRuntime", dependencies: ["ApplianceLogic", "Settings", "BoardIO", "LinuxIO", "Media"]),
        .target(
            name: "DeviceStreams",
            dependencies: [
                "CardStorage", "WebcamService", "Encoding", "ApplianceLogic", "StreamLogic", "StreamQuality",
                "Settings", "Controls", "DevicePorts", "USBVideo", "LinuxIO", "Media",
            ]),
        .target(
            name: "Publishing",
            dependencies: [
                "MediaPipeline", "Encoding", "StreamLogic", "StreamQuality", "RTMP", "Bitstream", "Transport",
                "Settings",
                "Controls", "Filters", "FrameFiltering", "LinuxIO", "Media",
            ]),
        .target(
            name: "FilePublishing",
            dependencies: [
                "Publishing", "FileSources", "Terminal", "StreamLogic", "StreamQuality", "RTMP", "Bitstream",
                "Transport", "Settings", "LinuxIO", "Media",
            ]),
        .target(
            name: "Recording",
            dependencies: [
                "RecordingLogic", "Encoding", "StreamQuality", "Bitstream", "JSONText", "Settings", "LinuxIO", "Media",
            ]),
        .target(
            name: "Receiving",
            dependencies: [
                "Recording", "RecordingLogic", "StreamLogic", "RTMP", "Bitstream", "Transport", "LinuxIO", "Media",
            ]),
        .target(
            name: "Terminal",
            dependencies: [
                "StreamLogic", "StreamQuality", "Controls", "Filters", "TimeZones", "JSONText", "LinuxIO", "Media",
            ]),
        .target(
            name: "WebService",
            dependencies: [
                "PageLogic", "HTTP", "PageFiles", "Recording", "RecordingLogic", "JSONText", "Settings", "Transport",
                "Encoding", "StreamQuality", "Bitstream", "LinuxIO", "Media",
            ]),
        .target(
            name: "Diagnosis",
            dependencies: [
                "CardStorage", "BoardRuntime", "DeviceStreams", "Recording", "RecordingLogic", "ApplianceLogic",
                "StreamLogic", "Settings", "JSONText", "BoardIO", "RTMP", "Transport", "LinuxIO", "Media",
            ]),
        .target(
            name: "CommandChannels",
            dependencies: [
                "Diagnosis", "WebcamService", "Terminal", "ApplianceLogic", "StreamLogic", "StreamQuality", "Settings",
                "Controls", "Filters", "JSONText", "LinuxIO", "Media",
            ]),
        .target(
            name: "ApplianceRuntime",
            dependencies: [
                "CommandChannels", "Diagnosis", "CardStorage", "BoardRuntime", "DeviceStreams", "WebcamService",
                "WebService", "PageLogic", "HTTP", "Recording", "RecordingLogic", "Encoding", "Terminal",
                "ApplianceLogic",
                "StreamLogic", "StreamQuality", "Settings", "Controls", "Filters", "JSONText", "BoardIO", "Transport",
                "DevicePorts", "USBVideo", "LinuxIO", "Media",
            ]),

        // The executable, and what it knows of this machine's devices.
        .target(
            name: "MachineDevices",
            dependencies: [
                "Terminal", "MediaPipeline", "VideoCapture", "Encoding", "ApplianceLogic", "StreamLogic",
                "StreamQuality", "Settings", "FileSources", "SyntheticSources", "LibcameraCapture", "V4L2Devices",
                "AudioCapture", "DisplayOutput", "SoftwareEncoding", "JSONText", "DevicePorts", "LinuxIO", "Media",
            ]),
        .executableTarget(
            name: "tallycam",
            dependencies: [
                "MachineDevices",
                "Media", "StreamQuality", "Settings", "Controls", "Filters", "FrameFiltering", "StreamLogic",
                "ApplianceLogic",
                "DevicePorts", "LinuxIO", "SoftwareEncoding", "AudioCapture", "LibcameraCapture", "V4L2Devices",
                "Transport", "DisplayOutput",
                "SyntheticSources", "FileSources", "JSONText", "VideoCapture", "MediaPipeline",
                "Publishing", "FilePublishing", "Recording", "Receiving", "Terminal", "CardStorage", "DeviceStreams",
                "Diagnosis", "CommandChannels",
                "ApplianceRuntime",
                "WebcamService", "USBVideo", "BoardIO", "BoardRuntime",
            ]),

        // C shims: they surface what Swift cannot import and hold no logic.
        .target(name: "CLinux"),
        .target(name: "CGPIOD", linkerSettings: [.linkedLibrary("gpiod")]),
        .target(name: "COpenH264", linkerSettings: [.linkedLibrary("openh264"), .linkedLibrary("stdc++")]),
        .target(
            name: "CLibYUV",
            linkerSettings: [.linkedLibrary("yuv"), .linkedLibrary("jpeg"), .linkedLibrary("stdc++")]),
        .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CFilterKernels"),
        .target(name: "CTranspose"),
        // The archive, in tests, too: the shared library has FreeType's modules for itself.
        .target(
            name: "CFreeType", cSettings: [.unsafeFlags(["-isystem", "/usr/include/freetype2"])],
            linkerSettings: [.linkedLibrary(":libfreetype.a"), .linkedLibrary("png16"), .linkedLibrary("z")]),
        .target(name: "CPNG", linkerSettings: [.linkedLibrary("png16"), .linkedLibrary("z"), .linkedLibrary("m")]),
        .target(name: "CFDKAAC", linkerSettings: [.linkedLibrary("fdk-aac"), .linkedLibrary("m")]),
        .target(
            name: "CLibcamera", cxxSettings: [.unsafeFlags(["-isystem", "/usr/include/libcamera"])],
            linkerSettings: [
                .linkedLibrary("camera"), .linkedLibrary("yaml"), .linkedLibrary("yuv"), .linkedLibrary("jpeg"),
                .linkedLibrary("stdc++"),
            ]),
        .target(name: "CALSA", linkerSettings: [.linkedLibrary("asound"), .linkedLibrary("m")]),
        .target(name: "CResampler", linkerSettings: [.linkedLibrary("speexdsp"), .linkedLibrary("m")]),
        .target(
            name: "CV4LConvert",
            linkerSettings: [.linkedLibrary("v4lconvert"), .linkedLibrary("jpeg"), .linkedLibrary("m")]),
        .target(
            name: "CMbedTLS",
            linkerSettings: [.linkedLibrary("mbedtls"), .linkedLibrary("mbedx509"), .linkedLibrary("mbedcrypto")]),
        .target(name: "CDRM", linkerSettings: [.linkedLibrary("drm"), .linkedLibrary("m")]),
        .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CPage", exclude: ["page", "packed"], cSettings: [.headerSearchPath("packed")]),
        .target(name: "CRapidJSON", linkerSettings: [.linkedLibrary("stdc++")]),

        // Filters on raw frames, for benchmarks and tests; no part of the product.
        .executableTarget(
            name: "filter-frames",
            dependencies: ["FrameFiltering", "SoftwareEncoding", "Filters", "DevicePorts", "LinuxIO", "Media"],
            path: "Benchmarks/filters/filter-frames"),

        .target(name: "SeededNumbers", path: "Tests/SeededNumbers"),
        .testTarget(name: "TimeZonesTests", dependencies: ["TimeZones", "Media"]),
        .testTarget(name: "MediaTests", dependencies: ["Media", "SeededNumbers"]),
        .testTarget(name: "USBVideoTests", dependencies: ["USBVideo", "Controls", "Media", "SeededNumbers"]),
        .testTarget(name: "ControlsTests", dependencies: ["Controls", "Media", "MediaTestSupport"]),
        .testTarget(name: "DevicePortsTests", dependencies: ["DevicePorts", "LinuxIO", "Media", "MediaTestSupport"]),
        .testTarget(
            name: "FiltersTests", dependencies: ["Filters", "TimeZones", "Media", "MediaTestSupport", "SeededNumbers"]),
        .testTarget(
            name: "FrameFilteringTests",
            dependencies: [
                "FrameFiltering", "Filters", "TimeZones", "DevicePorts", "LinuxIO", "Media", "CFilterKernels",
                "MediaTestSupport",
                "SeededNumbers",
            ], exclude: ["reference.py"]),
        .testTarget(name: "BitstreamTests", dependencies: ["Bitstream", "SeededNumbers"]),
        .testTarget(name: "RTMPTests", dependencies: ["RTMP", "Media", "SeededNumbers"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "Media", "SeededNumbers"]),
        .testTarget(name: "PageLogicTests", dependencies: ["PageLogic", "HTTP", "Media"]),
        .testTarget(name: "StreamQualityTests", dependencies: ["StreamQuality", "SeededNumbers"]),
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Settings", "Filters", "TimeZones", "JSONText", "LinuxIO", "Transport", "Media", "SeededNumbers",
            ]),
        .testTarget(
            name: "StreamLogicTests",
            dependencies: [
                "StreamLogic", "StreamQuality", "Filters", "Bitstream", "Media", "MediaTestSupport", "SeededNumbers",
            ]),
        .testTarget(
            name: "ApplianceLogicTests",
            dependencies: ["ApplianceLogic", "StreamLogic", "Settings", "Media", "SeededNumbers"]),
        .testTarget(
            name: "TerminalTests",
            dependencies: ["Terminal", "StreamLogic", "StreamQuality", "LinuxIO", "Media", "MediaTestSupport"]),
        .testTarget(name: "LinuxIOTests", dependencies: ["LinuxIO", "DevicePorts", "MediaTestSupport"]),
        .testTarget(
            name: "TransportTests", dependencies: ["Transport", "LinuxIO", "Media", "MediaTestSupport"]),
        .target(
            name: "MediaTestSupport",
            dependencies: ["Bitstream", "DevicePorts", "LinuxIO", "Media", "SeededNumbers", "CLibYUV", "CLinux"],
            path: "Tests/Support"),
        .testTarget(
            name: "SoftwareEncodingTests",
            dependencies: [
                "SoftwareEncoding", "StreamQuality", "DevicePorts", "Bitstream", "Media", "CTranspose",
                "MediaTestSupport", "SeededNumbers",
            ]),
        .testTarget(
            name: "AudioCaptureTests", dependencies: ["AudioCapture", "MediaTestSupport", "SeededNumbers"]),
        .testTarget(
            name: "WebcamServiceTests",
            dependencies: [
                "WebcamService", "USBVideo", "Controls", "DevicePorts", "LinuxIO", "Media", "MediaTestSupport",
                "SeededNumbers",
            ]),
        .testTarget(name: "LibcameraCaptureTests", dependencies: ["Controls", "LibcameraCapture", "MediaTestSupport"]),
        .testTarget(
            name: "V4L2DevicesTests",
            dependencies: ["V4L2Devices", "Controls", "DevicePorts", "CLinux", "CV4LConvert", "MediaTestSupport"]),
        .testTarget(
            name: "DisplayOutputTests",
            dependencies: ["DisplayOutput", "DevicePorts", "LinuxIO", "StreamLogic", "Media", "MediaTestSupport"]),
        .testTarget(
            name: "SyntheticSourcesTests",
            dependencies: [
                "SyntheticSources", "SoftwareEncoding", "StreamQuality", "MediaTestSupport", "SeededNumbers",
            ]),
        .testTarget(
            name: "FileSourcesTests",
            dependencies: ["FileSources", "Bitstream", "DevicePorts", "LinuxIO", "Media", "MediaTestSupport"]),
        .testTarget(
            name: "ApplianceRuntimeTests",
            dependencies: [
                "ApplianceRuntime", "CommandChannels", "Diagnosis", "CardStorage", "BoardRuntime", "DeviceStreams",
                "WebcamService",
                "Encoding", "Terminal",
                "Transport", "ApplianceLogic", "RecordingLogic", "StreamLogic", "StreamQuality", "Settings", "Controls",
                "JSONText", "BoardIO", "DevicePorts", "Filters", "USBVideo",
                "LinuxIO", "Media", "MediaTestSupport",
            ]),
        .target(
            name: "PipelineSupport",
            dependencies: [
                "MediaPipeline", "VideoCapture", "Encoding", "StreamLogic", "StreamQuality", "DevicePorts", "LinuxIO",
                "Media", "MediaTestSupport",
            ], path: "Tests/PipelineSupport"),
        .target(
            name: "WireSupport",
            dependencies: ["StreamLogic", "RTMP", "Bitstream", "Transport", "LinuxIO", "Media"],
            path: "Tests/WireSupport"),
        .testTarget(
            name: "PublishingTests",
            dependencies: [
                "Publishing", "FilePublishing", "FileSources", "MediaPipeline", "VideoCapture", "Encoding",
                "StreamLogic", "StreamQuality", "RTMP", "Bitstream", "Transport",
                "Settings", "SoftwareEncoding", "SyntheticSources", "Controls", "DevicePorts", "LinuxIO", "Media",
                "MediaTestSupport",
                "PipelineSupport", "WireSupport",
            ]),
        .testTarget(
            name: "RecordingLogicTests",
            dependencies: ["RecordingLogic", "Bitstream", "Media", "MediaTestSupport", "SeededNumbers"]),
        .testTarget(
            name: "RecordingTests",
            dependencies: [
                "Recording", "RecordingLogic", "Encoding", "StreamQuality", "Bitstream", "LinuxIO", "Media",
                "MediaTestSupport", "SeededNumbers",
            ]),
        .testTarget(
            name: "WebServiceTests",
            dependencies: [
                "WebService", "PageLogic", "HTTP", "Transport", "Encoding", "StreamQuality", "Bitstream", "LinuxIO",
                "Media",
                "MediaTestSupport",
            ]),
        .testTarget(
            name: "ReceivingTests",
            dependencies: [
                "Receiving", "StreamLogic", "RTMP", "Bitstream", "Transport", "LinuxIO", "Media", "MediaTestSupport",
                "WireSupport",
            ]),
        .testTarget(
            name: "MediaPipelineTests",
            dependencies: [
                "MediaPipeline", "VideoCapture", "Encoding", "StreamLogic", "StreamQuality", "SoftwareEncoding",
                "SyntheticSources", "DevicePorts", "Controls", "Filters", "FrameFiltering", "Bitstream", "LinuxIO",
                "Media",
                "MediaTestSupport", "PipelineSupport",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

let shims: Set = [
    "CLinux", "CGPIOD", "COpenH264", "CLibYUV", "CJPEG", "CFDKAAC", "CLibcamera", "CALSA", "CResampler", "CV4LConvert",
    "CMbedTLS", "CRapidJSON", "CFilterKernels", "CTranspose", "CFreeType", "CPNG", "CDRM",
    "CZlib", "CPage",
]

// Debian's compiler is built with its assertions, and verifies its own work after each step: 37 % of its instructions,
// about a tenth of its time.
// Its check of the syntax tree has to stay (-disable-ast-verifier): it gives closures in macros their names. Without it,
// two of a test had the same one, and the compiler ended.
for target in package.targets where !shims.contains(target.name) {
    target.swiftSettings = [
        .unsafeFlags(["-Xfrontend", "-sil-verify-none"]),
        // In bytes. A single expression with literals and operators of many types can take the compiler a minute. One that
        // needs this much memory takes seconds, and is refused: a type or an intermediate value helps.
        .unsafeFlags(["-Xfrontend", "-solver-memory-threshold", "-Xfrontend", "60000000"]),
    ]
}

// Regular expressions in the standard library weigh 1.5 MB in a static binary, and string searches that
// look innocent (`contains` of a string) pull them in. Without their module such a line does not compile.
for target in package.targets where target.type != .test && !shims.contains(target.name) {
    target.swiftSettings? += [
        .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]),
        // What a target offers and nobody uses is left out by the linker, function by function.
        .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
    ]
}

// What decides, asks devices and puts together is built for size: pixels and bytes are worked on in other targets.
let builtForSize = [
    "TimeZones", "HTTP", "PageLogic", "PageFiles", "StreamQuality", "Controls", "Filters", "Settings", "StreamLogic",
    "ApplianceLogic", "LinuxIO",
    "V4L2Devices",
    "LibcameraCapture", "DisplayOutput",
    "BoardIO", "JSONText", "VideoCapture", "Encoding", "MediaPipeline", "Receiving", "Recording", "RecordingLogic",
    "WebService", "WebcamService", "Publishing", "FilePublishing", "FileSources", "SyntheticSources", "Transport",
    "USBVideo",
    "Terminal", "CardStorage", "BoardRuntime",
    "DeviceStreams", "Diagnosis", "CommandChannels", "ApplianceRuntime", "MachineDevices", "tallycam",
    "DevicePorts", "RTMP", "AudioCapture", "SoftwareEncoding", "Media",
    "FrameFiltering",
]
for target in package.targets where builtForSize.contains(target.name) {
    target.swiftSettings? += [.unsafeFlags(["-Osize"], .when(configuration: .release))]
}

// Their tests compute most: minutes of simulated links, hours of audio, every split of a byte stream, pixels. Overflow and
// bounds are checked all the same. Tests whose own code computes little stay as they are: they would compile twice as long.
let optimizedForTests = [
    "StreamQuality", "StreamQualityTests", "AudioCapture", "AudioCaptureTests", "FrameFiltering", "FrameFilteringTests",
    "RTMP", "HTTP", "SeededNumbers", "MediaTestSupport",
]
for target in package.targets where optimizedForTests.contains(target.name) {
    target.swiftSettings? += [
        .unsafeFlags(["-O", "-wmo", "-num-threads", "1", "-assert-config", "Debug"], .when(configuration: .debug))
    ]
}
