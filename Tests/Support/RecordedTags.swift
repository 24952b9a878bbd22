import Bitstream
import LinuxIO

/// All tags of a file, which must be complete.
public func recordedTags(_ path: String) throws -> [FLVTag] {
    let bytes = try readFile(path, limit: 1 << 26)
    var reader = FLVReader()
    var position = 0
    _ = try reader.append(upTo: bytes.count) { room in
        let count = min(room.count, bytes.count - position)
        room.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
    var tags: [FLVTag] = []
    while let tag = try reader.nextTag() { tags.append(tag) }
    try reader.inputEnded()
    return tags
}
