import Bitstream
import Media

/// The stream's properties that `onMetaData` announces to players (FLV 10.1 annex E.5).
public struct StreamMetadata: Hashable, Sendable {
    public struct Video: Hashable, Sendable {
        public var size: FrameSize
        public var frameRate: FrameRate
        public var bitrate: Bitrate

        public init(size: FrameSize, frameRate: FrameRate, bitrate: Bitrate) {
            self.size = size
            self.frameRate = frameRate
            self.bitrate = bitrate
        }
    }

    public struct Audio: Hashable, Sendable {
        public var bitrate: Bitrate
        /// Samples per second per channel.
        public var sampleRate: Int
        public var channelCount: Int

        public init(bitrate: Bitrate, sampleRate: Int, channelCount: Int) {
            self.bitrate = bitrate
            self.sampleRate = sampleRate
            self.channelCount = channelCount
        }
    }

    /// H.264; `nil` if the stream has no video.
    public var video: Video?
    /// AAC; `nil` if the stream has no audio.
    public var audio: Audio?

    public init(video: Video?, audio: Audio?) {
        self.video = video
        self.audio = audio
    }

    /// The properties with FLV's names; bit rates in kbit/s, codecs by FLV's numbers.
    func properties(encoderName: String) -> [AMF0Property] {
        var properties = [AMF0Property("duration", .number(0)), AMF0Property("fileSize", .number(0))]
        if let video {
            properties += [
                AMF0Property("width", .number(Double(video.size.width))),
                AMF0Property("height", .number(Double(video.size.height))),
                AMF0Property("videocodecid", .number(7)),
                AMF0Property("videodatarate", .number(video.bitrate.kilobitsPerSecond)),
                AMF0Property("framerate", .number(Double(video.frameRate.framesPerSecond))),
            ]
        }
        if let audio {
            properties += [
                AMF0Property("audiocodecid", .number(10)),
                AMF0Property("audiodatarate", .number(audio.bitrate.kilobitsPerSecond)),
                AMF0Property("audiosamplerate", .number(Double(audio.sampleRate))),
                AMF0Property("audiosamplesize", .number(16)),
                AMF0Property("audiochannels", .number(Double(audio.channelCount))),
                AMF0Property("stereo", .boolean(audio.channelCount == 2)),
            ]
        }
        return properties + [AMF0Property("encoder", .string(encoderName))]
    }

    /// `onMetaData` as the first tag of a file has it.
    public func tag(encoderName: String) -> FLVTag {
        FLVTag(
            kind: .script, timestamp: 0,
            body: Array(dataFrame(encoderName: encoderName).dropFirst(Self.setDataFrame.count)))
    }

    /// The body of the `@setDataFrame` data message.
    func dataFrame(encoderName: String) -> [UInt8] {
        var body = Self.setDataFrame
        body.appendAMF0(.string("onMetaData"))
        body.appendAMF0(.ecmaArray(properties(encoderName: encoderName)))
        return body
    }

    /// `@setDataFrame` as an AMF0 string, which tells a server to keep the data for later players.
    static let setDataFrame: [UInt8] = {
        var bytes: [UInt8] = []
        bytes.appendAMF0(.string("@setDataFrame"))
        return bytes
    }()
}
