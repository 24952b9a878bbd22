import Media

/// A track of a recording; its number is the track's identifier in the file.
public enum MP4RecordedTrack: UInt32, CaseIterable, Hashable, Sendable {
    case video = 1
    case audio = 2
}

/// The decoder settings of a recording's tracks, and the units of their times.
public struct MP4RecordedTracks: Hashable, Sendable {
    /// Units per second of video times, and of the movie.
    public static let videoTimescale = 90_000
    /// Samples of an AAC packet.
    static let audioPacketDuration: UInt32 = 1024
    /// Audio that is closer than this to the end of the packet before follows it directly: timestamps are rounded.
    private static let audioTolerance = Duration.milliseconds(20)
    /// A longer AudioSpecificConfig would need longer descriptors.
    private static let longestConfig = 64

    public let video: AVCDecoderConfigurationRecord?
    public let audio: AudioSpecificConfig?
    /// The complete bytes of the AudioSpecificConfig.
    let audioBytes: [UInt8]
    /// The size that a player shows.
    public let size: FrameSize

    /// - Parameters:
    ///   - videoHeader: an AVCDecoderConfigurationRecord; `nil` for a recording without video.
    ///   - audioHeader: an AudioSpecificConfig; `nil` for a recording without audio.
    public init(videoHeader: [UInt8]?, audioHeader: [UInt8]?) throws(BitstreamError) {
        guard videoHeader != nil || audioHeader != nil else {
            throw .unsupported(structure: MP4Movie.structure, feature: "no track at all")
        }
        var size = FrameSize(width: 0, height: 0)
        if let videoHeader {
            let record = try AVCDecoderConfigurationRecord(parsing: videoHeader)
            guard let set = record.sequenceParameterSets.first else {
                throw .unsupported(structure: MP4Movie.structure, feature: "H.264 without parameter sets in its header")
            }
            size = try SequenceParameterSet(nalUnit: set).size
            video = record
        } else {
            video = nil
        }
        if let audioHeader {
            guard audioHeader.count <= Self.longestConfig else {
                throw .invalid(
                    structure: MP4Movie.structure, field: "length of an AudioSpecificConfig", value: audioHeader.count)
            }
            audio = try AudioSpecificConfig(parsing: audioHeader)
        } else {
            audio = nil
        }
        audioBytes = audioHeader ?? []
        self.size = size
    }

    /// The tracks of the file, in the order of their identifiers.
    public var all: [MP4RecordedTrack] {
        (video == nil ? [] : [.video]) + (audio == nil ? [] : [.audio])
    }

    /// Units per second of a track's times.
    public func timescale(_ track: MP4RecordedTrack) -> Int {
        track == .video ? Self.videoTimescale : audio?.sampleRate ?? Self.videoTimescale
    }

    /// A duration in a track's units, to the nearest one.
    public func units(_ duration: Duration, of track: MP4RecordedTrack) -> Int64 {
        let scale = Int64(timescale(track))
        let (seconds, rest) = duration.wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
        return seconds &* scale &+ (rest &* scale &+ half) / 1_000_000_000
    }
}

extension MP4RecordedTracks {
    /// The decode time of an audio packet, in the track's units.
    /// - Parameters:
    ///   - time: its own time.
    ///   - newest: decode time of the packet before.
    func audioTime(_ time: Int64, after newest: Int64?) -> Int64 {
        guard let newest else { return time }
        let expected = newest + Int64(Self.audioPacketDuration)
        let isNear = abs(time - expected) <= units(Self.audioTolerance, of: .audio)
        return isNear ? expected : max(newest + 1, time)
    }

    /// The tracks' codecs as in a MIME type (RFC 6381 section 3.3).
    var codecs: String {
        func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let avc = video.map { "avc1." + hex($0.profile) + hex($0.constraintFlags) + hex($0.level) }
        let aac = audio.map { "mp4a.40.\($0.extensionSampleRate == nil ? $0.objectType : 5)" }
        return [avc, aac].compactMap { $0 }.joined(separator: ",")
    }
}

// Sample descriptions.
extension MP4RecordedTracks {
    func appendDescription(of track: MP4RecordedTrack, to writer: inout MP4BoxWriter) {
        writer.fullBox("stsd") { box in
            box.append(UInt32(1))
            switch track {
            case .video: appendVideoEntry(to: &box)
            case .audio: appendAudioEntry(to: &box)
            }
        }
    }

    /// ISO 14496-15 section 5.4.2, and ISO 14496-12 section 12.1.3.
    private func appendVideoEntry(to writer: inout MP4BoxWriter) {
        writer.box("avc1") { box in
            box.appendZeros(6)
            box.append(UInt16(1))  // data_reference_index
            box.appendZeros(16)
            box.append(UInt16(truncatingIfNeeded: size.width))
            box.append(UInt16(truncatingIfNeeded: size.height))
            box.append([0x48_0000, 0x48_0000, 0])  // 72 dpi
            box.append(UInt16(1))  // frame_count
            box.appendZeros(32)  // compressorname
            box.append(UInt16(0x18))  // depth
            box.append(UInt16(0xFFFF))
            box.box("avcC") { $0.append(bytes: video?.bytes ?? []) }
        }
    }

    /// ISO 14496-14 section 5.6, and ISO 14496-12 section 12.2.3.
    private func appendAudioEntry(to writer: inout MP4BoxWriter) {
        let rate = timescale(.audio)
        writer.box("mp4a") { box in
            box.appendZeros(6)
            box.append(UInt16(1))  // data_reference_index
            box.appendZeros(8)
            box.append(UInt16(truncatingIfNeeded: audio?.channelCount ?? 2))
            box.append(UInt16(16))
            box.appendZeros(4)
            // 16.16; a rate beyond that is only in the AudioSpecificConfig.
            box.append(rate <= 0xFFFF ? UInt32(rate) << 16 : 0)
            box.fullBox("esds") { $0.append(bytes: elementaryStream) }
        }
    }

    /// The descriptors of ISO 14496-1 section 7.2.6.5.
    private var elementaryStream: [UInt8] {
        func descriptor(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        let aac: UInt8 = 0x40
        let audioStream: UInt8 = 0x15
        let decoder = descriptor(
            0x04, [aac, audioStream] + [UInt8](repeating: 0, count: 11) + descriptor(0x05, audioBytes))
        return descriptor(0x03, [0, UInt8(MP4RecordedTrack.audio.rawValue), 0] + decoder + descriptor(0x06, [2]))
    }
}
