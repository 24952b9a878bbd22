/// Where a recording's samples are and when they are shown: grows with each fragment, and becomes the sample tables of the
/// finished file.
struct MP4SampleIndex: Sendable {
    /// Decode times beyond this, in a track's units, would overflow sums.
    static let latestTime = UInt64(1) << 48

    struct Track: Sendable {
        /// Consecutive samples with one value.
        struct Repeated: Sendable {
            var count: UInt32
            var value: UInt32
        }

        struct Chunk: Sendable {
            var offset: Int
            var sampleCount: UInt32
        }

        /// Decode time of the first sample.
        fileprivate(set) var start: Int64 = 0
        /// Decode time where the last sample ends.
        fileprivate(set) var end: Int64 = 0
        fileprivate(set) var durations: [Repeated] = []
        fileprivate(set) var compositionOffsets: [Repeated] = []
        fileprivate(set) var sizes: [UInt32] = []
        /// Numbers of the keyframes, from 1.
        fileprivate(set) var keyframes: [UInt32] = []
        fileprivate(set) var chunks: [Chunk] = []

        var sampleCount: Int { sizes.count }
        var duration: Int64 { end - start }
    }

    private(set) var video = Track()
    private(set) var audio = Track()

    subscript(_ track: MP4RecordedTrack) -> Track { track == .video ? video : audio }

    var sampleCount: Int { video.sampleCount + audio.sampleCount }

    /// - Parameter dataOffset: place of the first sample in the file.
    mutating func add(_ fragment: MP4Fragment, dataOffset: Int) {
        var offset = dataOffset
        for run in fragment.runs {
            switch run.track {
            case .video: video.add(run, offset: offset)
            case .audio: audio.add(run, offset: offset)
            }
            offset += run.byteCount
        }
    }
}

extension MP4SampleIndex.Track {
    mutating func add(_ run: MP4Fragment.Run, offset: Int) {
        if sizes.isEmpty {
            start = run.baseTime
        } else {
            lastSampleEnds(at: run.baseTime)
        }
        for sample in run.samples {
            sizes.append(UInt32(truncatingIfNeeded: sample.byteCount))
            Self.append(sample.duration, to: &durations)
            Self.append(UInt32(bitPattern: sample.compositionOffset), to: &compositionOffsets)
            if sample.isKeyframe { keyframes.append(UInt32(truncatingIfNeeded: sizes.count)) }
        }
        end = run.end
        chunks.append(Chunk(offset: offset, sampleCount: UInt32(truncatingIfNeeded: run.samples.count)))
    }

    /// The duration of a fragment's last sample is a guess if the next one was not known. Its own table has no room for a gap, so
    /// it is corrected here.
    private mutating func lastSampleEnds(at time: Int64) {
        guard time != end, var last = durations.popLast() else { return }
        let value = max(0, Int64(last.value) + time - end)
        let corrected = UInt32(clamping: value)
        last.count -= 1
        if last.count > 0 { durations.append(last) }
        Self.append(corrected, to: &durations)
    }

    private static func append(_ value: UInt32, to list: inout [Repeated]) {
        guard let last = list.last, last.value == value else { return list.append(Repeated(count: 1, value: value)) }
        list[list.count - 1].count += 1
    }

    /// The sample tables (ISO 14496-12 sections 8.6 and 8.7).
    func appendTables(allAreKeyframes: Bool, to writer: inout MP4BoxWriter) {
        writer.fullBox("stts") { Self.append(durations, to: &$0) }
        if compositionOffsets.contains(where: { $0.value != 0 }) {
            // Version 1 is signed.
            writer.fullBox("ctts", version: 1) { Self.append(compositionOffsets, to: &$0) }
        }
        if !allAreKeyframes {
            writer.fullBox("stss") { box in
                box.append(UInt32(truncatingIfNeeded: keyframes.count))
                box.append(keyframes)
            }
        }
        writer.fullBox("stsc") { box in
            let changes = chunks.indices.filter { $0 == 0 || chunks[$0].sampleCount != chunks[$0 - 1].sampleCount }
            box.append(UInt32(truncatingIfNeeded: changes.count))
            for index in changes {
                box.append([UInt32(truncatingIfNeeded: index + 1), chunks[index].sampleCount, 1])
            }
        }
        writer.fullBox("stsz") { box in
            box.append([0, UInt32(truncatingIfNeeded: sizes.count)])
            box.append(sizes)
        }
        appendChunkOffsets(to: &writer)
    }

    private func appendChunkOffsets(to writer: inout MP4BoxWriter) {
        let isLong = chunks.contains { $0.offset > Int(UInt32.max) }
        writer.fullBox(isLong ? "co64" : "stco") { box in
            box.append(UInt32(truncatingIfNeeded: chunks.count))
            for chunk in chunks {
                if isLong {
                    box.append(UInt64(chunk.offset))
                } else {
                    box.append(UInt32(truncatingIfNeeded: chunk.offset))
                }
            }
        }
    }

    private static func append(_ list: [Repeated], to box: inout MP4BoxWriter) {
        box.append(UInt32(truncatingIfNeeded: list.count))
        for entry in list { box.append([entry.count, entry.value]) }
    }
}
