// swift-tools-version: 6.0
// Fuzz targets, in a separate package so that no build of the product includes them. scripts/fuzz builds and runs them.
import PackageDescription

// `Debug` keeps the bounds checks of unsafe buffers, which an optimized build omits otherwise.
let checked: [SwiftSetting] = [.unsafeFlags(["-assert-config", "Debug"])]
// Inline counters and comparison tracing for libFuzzer.
let traced: [SwiftSetting] = checked + [.unsafeFlags(["-sanitize=fuzzer"])]

/// A module of the product, compiled again with tracing.
func module(_ name: String, dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Modules/\(name)", swiftSettings: traced)
}

/// C code of the product, with tracing; the libraries themselves have none.
func shim(_ name: String, libraries: [String]) -> Target {
    .target(
        name: name, path: "Modules/\(name)",
        cSettings: [.unsafeFlags(["-fsanitize=fuzzer-no-link", "-isystem", "/usr/include/freetype2"])],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func fuzzTarget(_ name: String, dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: ["FuzzDriver"] + dependencies, swiftSettings: checked)
}

let package = Package(
    name: "fuzz",
    products: [
        .executable(name: "fuzz-rtmp", targets: ["FuzzRTMP"]),
        .executable(name: "fuzz-amf0", targets: ["FuzzAMF0"]),
        .executable(name: "fuzz-json", targets: ["FuzzJSON"]),
        .executable(name: "fuzz-h264", targets: ["FuzzH264"]),
        .executable(name: "fuzz-flv", targets: ["FuzzFLV"]),
        .executable(name: "fuzz-mp4", targets: ["FuzzMP4"]),
        .executable(name: "fuzz-mp4tags", targets: ["FuzzMP4Tags"]),
        .executable(name: "fuzz-recording", targets: ["FuzzRecording"]),
        .executable(name: "fuzz-filters", targets: ["FuzzFilters"]),
        .executable(name: "fuzz-images", targets: ["FuzzImages"]),
        .executable(name: "fuzz-usb", targets: ["FuzzUSB"]),
        .executable(name: "fuzz-http", targets: ["FuzzHTTP"]),
        .executable(name: "write-seeds", targets: ["WriteSeeds"]),
    ],
    targets: [
        module("Media"),
        module("TimeZones", dependencies: ["Media"]),
        module("Bitstream", dependencies: ["Media"]),
        module("RTMP", dependencies: ["Bitstream", "Media"]),
        module("HTTP", dependencies: ["Media"]),
        module("Controls", dependencies: ["Media"]),
        module("Filters", dependencies: ["TimeZones", "Media"]),
        module("USBVideo", dependencies: ["Controls", "Media"]),
        module("Settings", dependencies: ["Controls", "Filters", "TimeZones", "Media"]),
        module("DevicePorts", dependencies: ["Controls", "USBVideo", "Media"]),
        module("LinuxIO", dependencies: ["DevicePorts", "TimeZones", "CLinux", "Media"]),
        module("JSONText", dependencies: ["Settings", "LinuxIO", "CRapidJSON"]),
        shim("CPNG", libraries: ["png16", "z", "m"]),
        shim("CJPEG", libraries: ["jpeg"]),
        shim("CFreeType", libraries: [":libfreetype.a", "png16", "z"]),
        .target(name: "CLinux", path: "Modules/CLinux"),
        .target(
            name: "CRapidJSON", path: "Modules/CRapidJSON",
            cxxSettings: [.unsafeFlags(["-fsanitize=fuzzer-no-link"])], linkerSettings: [.linkedLibrary("stdc++")]),

        .target(
            name: "CLibFuzzer",
            linkerSettings: [
                .unsafeFlags([
                    "-Xlinker", "--wrap=__sanitizer_cov_trace_cmp8",
                    "-Xlinker", "--wrap=__sanitizer_cov_trace_const_cmp8",
                ])
            ]),
        .target(name: "FuzzDriver", dependencies: ["CLibFuzzer"], swiftSettings: checked),
        fuzzTarget("FuzzRTMP", dependencies: ["RTMP", "Bitstream", "Media"]),
        fuzzTarget("FuzzAMF0", dependencies: ["RTMP"]),
        fuzzTarget("FuzzJSON", dependencies: ["JSONText", "Settings", "Media"]),
        fuzzTarget("FuzzH264", dependencies: ["Bitstream", "Media"]),
        fuzzTarget("FuzzFLV", dependencies: ["Bitstream", "Media"]),
        fuzzTarget("FuzzMP4", dependencies: ["Bitstream", "Media"]),
        fuzzTarget("FuzzMP4Tags", dependencies: ["Bitstream", "Media"]),
        fuzzTarget("FuzzRecording", dependencies: ["Bitstream", "Media"]),
        fuzzTarget("FuzzFilters", dependencies: ["Filters", "Media"]),
        fuzzTarget("FuzzImages", dependencies: ["Bitstream", "CFreeType", "CJPEG", "CPNG"]),
        fuzzTarget("FuzzUSB", dependencies: ["USBVideo", "Controls", "Media"]),
        fuzzTarget("FuzzHTTP", dependencies: ["HTTP", "Media"]),
        .executableTarget(
            name: "WriteSeeds", dependencies: ["RTMP", "Bitstream", "Media"], swiftSettings: checked),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
