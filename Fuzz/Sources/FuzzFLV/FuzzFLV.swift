import Bitstream
import FuzzDriver
import Media

@main enum FuzzFLV {
    static func main() { fuzz(testOneInput) }
}

/// An FLV file, read at once and in portions, whose size is in the last byte.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: count)
    let whole = read(bytes, portion: max(1, count))
    let portion = Int(bytes.last ?? 0) % 64 + 1
    precondition(read(bytes, portion: portion) == whole, "the same bytes in portions of \(portion) are other tags")
    for tag in whole.tags { check(tag) }
    return 0
}

private struct Outcome: Equatable {
    var tags: [FLVTag] = []
    var error: BitstreamError?
    var endError: BitstreamError?
}

private func read(_ bytes: UnsafeRawBufferPointer, portion: Int) -> Outcome {
    var reader = FLVReader()
    var outcome = Outcome()
    do throws(BitstreamError) {
        for start in stride(from: 0, to: bytes.count, by: portion) {
            reader.append(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + portion, bytes.count)]))
            while let tag = try reader.nextTag() { outcome.tags.append(tag) }
        }
    } catch {
        outcome.error = error
    }
    do throws(BitstreamError) { try reader.inputEnded() } catch { outcome.endError = error }
    return outcome
}

private func check(_ tag: FLVTag) {
    guard let written = try? FLVWriter.bytes(of: tag) else { preconditionFailure("a tag that was read is too long") }
    var reader = FLVReader()
    reader.append(FLVWriter.header(hasAudio: true, hasVideo: true) + written)
    guard let again = try? reader.nextTag() else { preconditionFailure("the tag cannot be read back") }
    precondition(again == tag, "the tag changed on its way")
    precondition(!(tag.isKeyframe && tag.isSequenceHeader))
    if let header = try? FLVVideoHeader(parsing: tag.body) {
        precondition(tag.body.starts(with: header.bytes), "the video header changed on its way")
    }
    if let header = try? FLVAudioHeader(parsing: tag.body) {
        precondition(tag.body.starts(with: header.bytes), "the audio header changed on its way")
    }
    let base = MediaTimestamp(milliseconds: 86_400_000)
    guard let packet = try? tag.packet(base: base) else { return }
    let tagAgain = FLVTag(packet, base: base)
    precondition(tagAgain.kind == tag.kind && tagAgain.timestamp == tag.timestamp, "the time changed on its way")
    precondition(tagAgain.isKeyframe == tag.isKeyframe && tagAgain.isSequenceHeader == tag.isSequenceHeader)
    guard let packetAgain = try? tagAgain.packet(base: base) else { preconditionFailure("the packet is lost") }
    precondition(packetAgain.kind == packet.kind && packetAgain.payload == packet.payload)
    guard case .video = packet.kind else { return }
    precondition(packetAgain.compositionOffset == packet.compositionOffset, "the composition time changed on its way")
}
