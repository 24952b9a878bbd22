import CZlib

/// - Parameter file: in gzip's format (RFC 1952).
/// - Returns: its contents; `nil` if it is damaged, or larger than `limit` bytes.
func unpacked(_ file: [UInt8], limit: Int = 1 << 20) -> [UInt8]? {
    var stream = z_stream()
    // The largest window, in gzip's format.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var input = file
    var output = [UInt8](repeating: 0, count: limit)
    let status = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            return inflate(&stream, Z_FINISH)
        }
    }
    guard status == Z_STREAM_END else { return nil }
    output.removeLast(Int(stream.avail_out))
    return output
}
