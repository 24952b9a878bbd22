import Bitstream
import DevicePorts
import Glibc
import LinuxIO
import Media

/// ffmpeg's decoders, as an independent check of the encoders' output.
public enum FFmpeg {
    /// ffmpeg's error messages.
    public struct Complaint: Error, CustomStringConvertible {
        public let description: String
    }

    /// Decodes the packets of an H.264 stream.
    /// - Returns: packed I420 frames in the stream's size.
    /// - Throws: `Complaint` with anything that the decoder logs.
    public static func frames(of packets: [EncodedPacket], byteCount: Int) throws -> [[UInt8]] {
        let raw = try decode(
            annexB(packets), as: "h264", to: ["-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo"])
        return stride(from: 0, to: raw.count - raw.count % byteCount, by: byteCount).map {
            Array(raw[$0..<$0 + byteCount])
        }
    }

    /// Decodes a JPEG file.
    /// - Returns: red, green and blue of each pixel.
    public static func pixels(of jpeg: [UInt8]) throws -> [UInt8] {
        try decode(jpeg, as: "mjpeg", to: ["-pix_fmt", "rgb24", "-f", "rawvideo"])
    }

    /// Decodes the packets of an AAC-LC stream: 1024 frames per packet, nothing cut off.
    /// - Returns: interleaved samples.
    public static func samples(of packets: [EncodedPacket]) throws -> [Int16] {
        let raw = try decode(adts(packets), as: "aac", to: ["-f", "s16le"])
        return stride(from: 0, to: raw.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(raw[$0]) | UInt16(raw[$0 + 1]) << 8)
        }
    }

    /// Converts length-prefixed packets to H.264 with start codes (Annex B).
    static func annexB(_ packets: [EncodedPacket]) throws -> [UInt8] {
        let startCode: [UInt8] = [0, 0, 0, 1]
        var stream: [UInt8] = []
        for packet in packets {
            if packet.kind == .videoHeader {
                let record = try AVCDecoderConfigurationRecord(parsing: packet.payload)
                for set in record.sequenceParameterSets + record.pictureParameterSets { stream += startCode + set }
            } else {
                var rest = packet.payload[...]
                while rest.count > 4 {
                    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    stream += startCode + rest.dropFirst(4).prefix(length)
                    rest = rest.dropFirst(4 + length)
                }
            }
        }
        return stream
    }

    /// Puts an ADTS header (ISO 13818-7 section 6.2) before each AAC packet.
    static func adts(_ packets: [EncodedPacket]) throws -> [UInt8] {
        let rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000]
        var stream: [UInt8] = []
        var rateIndex = 0
        var channels = 0
        for packet in packets {
            if packet.kind == .audioHeader {
                let config = try AudioSpecificConfig(parsing: packet.payload)
                rateIndex = rates.firstIndex(of: config.sampleRate) ?? 15
                channels = Int(config.channelConfiguration)
                continue
            }
            let length = packet.payload.count + 7
            let profileAndRate: Int = 1 << 6 | rateIndex << 2 | channels >> 2
            let lengths: [Int] = [(channels & 3) << 6 | length >> 11, length >> 3 & 0xFF, (length & 7) << 5 | 0x1F]
            stream += [0xFF, 0xF1] + ([profileAndRate] + lengths).map { UInt8($0) } + [0xFC]
            stream += packet.payload
        }
        return stream
    }

    private static func decode(_ input: [UInt8], as format: String, to options: [String]) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let source = try directory.write(input, to: "input")
        let target = directory.file("output")
        let log = directory.file("log")
        try runProgram(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", format, "-i", source] + options + [target], log: log)
        return try readFile(target, limit: 1 << 30)
    }

    /// Filters a packed frame.
    /// - Parameter graph: as for -filter_complex, starting with `[0]`.
    /// - Returns: the frame, in the same layout.
    public static func filtered(_ frame: [UInt8], _ layout: FrameLayout, by graph: String) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let format = layout.format == .i420 ? "yuv420p" : layout.format.rawValue
        let target = directory.file("output")
        try runProgram(
            [
                "ffmpeg", "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", format, "-video_size",
                "\(layout.size)",
                "-i", try directory.write(frame, to: "input"), "-filter_complex", graph, "-frames:v", "1", "-pix_fmt",
                format, "-f", "rawvideo", target,
            ], log: directory.file("log"))
        return try readFile(target, limit: 1 << 30)
    }
}

extension FFmpeg {
    /// Runs a program to completion, without input and output.
    /// - Parameter log: a file that receives its standard error.
    /// - Throws: `Complaint` if it fails or prints errors.
    public static func runProgram(_ arguments: [String], log: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT, 0o600)
        let strings = arguments.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var identifier: pid_t = 0
        let number = posix_spawnp(&identifier, arguments[0], &actions, nil, strings + [nil], environ)
        guard number == 0 else { throw SystemCallError("posix_spawnp", number: number, subject: arguments[0]) }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { throw SystemCallError("waitpid") }
        }
        let text = String(decoding: try readFile(log, limit: 1 << 20), as: UTF8.self)
        guard status == 0, text.isEmpty else { throw Complaint(description: "status \(status): \(text)") }
    }
}
