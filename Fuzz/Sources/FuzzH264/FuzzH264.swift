import Bitstream
import FuzzDriver
import Media

@main enum FuzzH264 {
    static func main() { fuzz(testOneInput) }
}

/// One input is read as each of the structures. Their first bytes distinguish them, so that the wrong readers give up at once
/// and an input needs no mark of its kind.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let buffer = UnsafeRawBufferPointer(start: data, count: count)
    let bytes = [UInt8](buffer)
    readAccessUnit(buffer)
    if let set = try? SequenceParameterSet(nalUnit: bytes) { check(set) }
    if let record = try? AVCDecoderConfigurationRecord(parsing: bytes) { check(record) }
    if let config = try? AudioSpecificConfig(parsing: bytes) { check(config) }
    return 0
}

private func readAccessUnit(_ bytes: UnsafeRawBufferPointer) {
    let unit = AnnexBAccessUnit(bytes)
    var rest = unit.payload[...]
    var types: [NALUnitType] = []
    while !rest.isEmpty {
        precondition(rest.count > 4, "a length without a NAL unit behind it")
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        precondition(length > 0 && length <= rest.count, "a length that is not the NAL unit's")
        types.append(NALUnitType(firstByte: rest[rest.startIndex]))
        rest = rest.dropFirst(length)
    }
    precondition(unit.payload.count <= bytes.count + bytes.count / 3, "more came out than went in")
    precondition(unit.containsFrame == types.contains(where: \.isFrame))
    precondition(unit.isKeyframe == types.contains(.idrSlice))
    precondition(!types.contains(.sequenceParameterSet) && !types.contains(.pictureParameterSet))
    if let record = unit.parameterSets { check(record) }
}

private func check(_ set: SequenceParameterSet) {
    precondition(set.size.width > 0 && set.size.height > 0, "a frame without an area")
    precondition(set.size.width <= set.codedSize.width && set.size.height <= set.codedSize.height)
    precondition(set.codedSize.width * set.codedSize.height <= 1 << 30, "a frame larger than any memory")
    if let timing = set.timing { precondition(timing.framesPerSecond > 0 && timing.framesPerSecond.isFinite) }
}

private func check(_ record: AVCDecoderConfigurationRecord) {
    let written = record.bytes
    guard let again = try? AVCDecoderConfigurationRecord(parsing: written) else {
        preconditionFailure("the record cannot be read back")
    }
    precondition(again == record && again.bytes == written, "the record changed on its way")
}

private func check(_ config: AudioSpecificConfig) {
    precondition(config.sampleRate > 0 && config.extensionSampleRate != 0, "no samples at all")
    guard let again = try? AudioSpecificConfig(parsing: config.bytes) else {
        preconditionFailure("the configuration cannot be read back")
    }
    precondition(again == config, "the configuration changed on its way")
}
