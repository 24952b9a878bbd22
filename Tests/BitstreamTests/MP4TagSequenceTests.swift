import Media
import Testing

@testable import Bitstream

@Suite struct MP4TagSequenceTests {
    private func finished(_ sample: SampleRecording, frames: Int = 23) throws -> [UInt8] {
        var writer = try sample.writer()
        var file = MemoryFile()
        file.perform(sample.stages(&writer, frames: frames).flatMap { $0 })
        file.perform(writer.finish())
        return file.bytes
    }

    private func tags(_ bytes: [UInt8]) throws -> [FLVTag] {
        var sequence = try MP4TagSequence(try MP4Movie(file: bytes))
        var tags = sequence.headers
        while let item = sequence.next() {
            let sample = item.sample
            tags.append(item.tag(Array(bytes[sample.offset..<sample.offset + sample.byteCount])))
        }
        return tags
    }

    @Test(arguments: [
        SampleRecording(), SampleRecording(frameDuration: .nanoseconds(33_366_667)),
        SampleRecording(compositionOffsets: [.milliseconds(80), .zero, .milliseconds(120)]),
        SampleRecording(hasAudio: false), SampleRecording(audioDelay: .milliseconds(300)),
    ])
    func everySampleIsATagAtItsTime(sample: SampleRecording) throws {
        let tags = try tags(finished(sample))
        let packets = sample.packets(frames: 23)
        let media = tags.filter { !$0.isSequenceHeader }
        #expect(tags.prefix { $0.isSequenceHeader }.count == (sample.hasAudio ? 2 : 1))
        for kind in [FLVTag.Kind.video, .audio] {
            let wanted = packets.filter { $0.flvKind == kind }
            let found = media.filter { $0.kind == kind }
            #expect(found.map(\.body) == wanted.map { FLVTag($0, base: .zero).body })
            for (tag, packet) in zip(found, wanted) {
                let time = (packet.decodeTime - SampleRecording.start).inSeconds * 1000
                #expect(abs(Double(tag.timestamp) - time) < 0.6)
            }
        }
        #expect(zip(media, media.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
    }

    /// An edit list in front of the video's media, in the movie's and the track's units of 1/90000 s.
    private func edited(_ sample: SampleRecording, duration: Int64 = 0, time: Int64) throws -> [UInt8] {
        let bytes = try finished(sample)
        let moov = try #require(try MP4Box.all(in: bytes[...]).first { $0.type == "moov" })
        var writer = MP4BoxWriter()
        writer.append(bytes: Array(bytes[..<(moov.content.startIndex - 8)]))
        writer.box("moov") { appendEdited(moov, duration, time, to: &$0) }
        return writer.bytes
    }

    private func appendEdited(_ moov: MP4Box, _ duration: Int64, _ time: Int64, to writer: inout MP4BoxWriter) {
        var isFirst = true
        for box in (try? MP4Box.all(in: moov.content)) ?? [] {
            writer.box(box.type) { copy in
                if box.type == "trak", isFirst {
                    isFirst = false
                    copy.box("edts") { edts in
                        edts.fullBox("elst", version: 1) { list in
                            list.append(UInt32(1))
                            list.append(duration)
                            list.append(time)
                            list.append(UInt32(0x1_0000))
                        }
                    }
                }
                copy.append(bytes: Array(box.content))
            }
        }
    }

    /// GOPs have 5 frames of 40 ms.
    @Test func editFromAKeyframeLeavesEarlierGOPsOut() throws {
        let sample = SampleRecording(audioDelay: .zero)
        let video = try tags(edited(sample, time: 5 * 3600)).filter { $0.kind == .video && !$0.isSequenceHeader }
        #expect(video.count == 18 && video.first?.isKeyframe == true)
        let wanted = sample.packets(frames: 23).filter(\.isVideo).dropFirst(5)
        #expect(video.map(\.body) == wanted.map { FLVTag($0, base: .zero).body })
    }

    @Test func editToAFrameLeavesLaterOnesOut() throws {
        let sample = SampleRecording(audioDelay: .zero)
        let video = try tags(edited(sample, duration: 7 * 3600, time: 0)).filter {
            $0.kind == .video && !$0.isSequenceHeader
        }
        #expect(video.count == 7)
    }

    @Test func editBetweenKeyframesIsRefused() throws {
        let sample = SampleRecording()
        let movie = try MP4Movie(file: edited(sample, time: 7 * 3600))
        #expect(throws: MP4TagSequence.Obstacle.hiddenFrames(.milliseconds(80))) { try MP4TagSequence(movie) }
    }

    /// As ffmpeg writes files with B frames: the edit only removes the first frame's delay.
    @Test func editOverTheFirstDelayKeepsEveryFrame() throws {
        let sample = SampleRecording(compositionOffsets: [.milliseconds(80), .zero, .milliseconds(40)])
        let tags = try tags(edited(sample, time: 7200))
        #expect(tags.count { $0.kind == .video } == 24)
        #expect(tags.first { $0.kind == .video && !$0.isSequenceHeader }?.timestamp == 0)
        // Audio keeps its distance: it is decoded 80 ms later than before.
        #expect(tags.first { $0.kind == .audio && !$0.isSequenceHeader }?.timestamp == 95)
    }

    @Test func movieWithoutVideoIsRefused() throws {
        let movie = try MP4Movie(file: finished(SampleRecording(hasVideo: false)))
        #expect(throws: MP4TagSequence.Obstacle.noVideo(found: nil)) { try MP4TagSequence(movie) }
    }
}
