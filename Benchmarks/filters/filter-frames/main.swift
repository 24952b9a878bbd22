import DevicePorts
import Filters
import FrameFiltering
import Glibc
import LinuxIO
import Media
import SoftwareEncoding

// Filters and rotates raw frames from standard input to standard output, for benchmarks and for comparisons with other programs
// in tests.

let options = CommandLineOptions([
    CommandLineOption("format", takes: "FORMAT", help: "nv12 (default) or i420, packed"),
    CommandLineOption("size", takes: "WxH", help: "of the frames (default 640x480)"),
    CommandLineOption("matrix", takes: "NAME", help: "601 or 709 (default: by size)"),
    CommandLineOption("full-range", help: "luma is 0 to 255"),
    CommandLineOption("filter", takes: "NAME[,KEY=VALUE...]", help: "in order"),
    CommandLineOption("rotate", takes: "DEGREES", help: "clockwise, after all filters; i420 is written then"),
    CommandLineOption(
        "time", takes: "SECONDS", help: "of the first frame, since 1970 (default 0); 30 frames are a second"),
    CommandLineOption("repeat", takes: "N", help: "do it to the first frame so often, and write it once"),
    CommandLineOption("costs", help: "write nanoseconds a frame of each filter to standard error"),
])

do {
    let arguments = try options.parse(Array(CommandLine.arguments.dropFirst()))
    try run(arguments)
} catch {
    write(Array("filter-frames: \(error)\n".utf8), to: STDERR_FILENO)
    exit(2)
}

struct UsageError: Error, CustomStringConvertible {
    let description: String
}

func layout(_ arguments: CommandLineArguments) throws -> FrameLayout {
    let sides = (arguments["size"] ?? "640x480").split(separator: "x").compactMap { Int($0) }
    guard sides.count == 2, sides.allSatisfy((1...16_384).contains),
        let format = PixelFormat(rawValue: arguments["format"] ?? "nv12")
    else { throw UsageError(description: "--size is WxH, --format nv12 or i420") }
    return FrameLayout(packed: format, size: FrameSize(width: sides[0], height: sides[1]))
}

func colors(_ arguments: CommandLineArguments, _ size: FrameSize) -> VideoColors {
    let known: VideoColors =
        switch arguments["matrix"] {
        case "601": .bt601
        case "709": .bt709
        default: .usual(for: size)
        }
    return VideoColors(
        primaries: known.primaries, transfer: known.transfer, matrix: known.matrix,
        isFullRange: arguments.contains("full-range"))
}

func rotator(_ arguments: CommandLineArguments, _ layout: FrameLayout) throws -> FrameRotator? {
    guard let text = arguments["rotate"] else { return nil }
    guard let angle = Int(text).flatMap({ FrameRotation.Angle(rawValue: $0) }) else {
        throw UsageError(description: "--rotate is 90, 180 or 270")
    }
    return try FrameRotator(from: layout, FrameRotation(angle))
}

func run(_ arguments: CommandLineArguments) throws {
    let layout = try layout(arguments)
    let colors = colors(arguments, layout.size)
    let pass = FilterPass(try LoadedFilters(FilterChain(parsing: arguments.values(of: "filter"))))
    let repetitions = arguments["repeat"].flatMap { Int($0) } ?? 1
    let start = arguments["time"].flatMap { Int64($0) } ?? 0
    let input = OwnedFileDescriptor(adopting: dup(STDIN_FILENO))
    let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
    defer { frame.deallocate() }
    let rotator = try rotator(arguments, layout)
    let rotated = UnsafeMutableRawBufferPointer.allocate(byteCount: rotator?.target.byteCount ?? 0, alignment: 64)
    defer { rotated.deallocate() }
    var fields = TextFields()
    fields.name = "tallycam"
    fields.quality = "High1"
    fields.bitrate = Bitrate(kilobitsPerSecond: 1500)
    while try input.readAll(into: frame) == layout.byteCount {
        for _ in 0..<repetitions {
            fields.secondsSince1970 = start + Int64(fields.frame / 30)
            if !pass.isIdle { try pass.apply(to: frame, layout, colors, fields) }
            try rotator?.rotate(UnsafeRawBufferPointer(frame), into: rotated)
            fields.frame += 1
        }
        write(Array(rotator == nil ? frame : rotated), to: STDOUT_FILENO)
        if repetitions > 1 { break }
    }
    guard arguments.contains("costs") else { return }
    for cost in pass.costs {
        let mean = cost.frames == 0 ? 0 : cost.nanoseconds / Int64(cost.frames)
        write(Array("\(cost.filter) \(mean)\n".utf8), to: STDERR_FILENO)
    }
}
