/// Assigns each descriptor to the same buffer of a queue every time, so that the driver imports it only once.
struct ImportedBuffers {
    private var indexOfDescriptor: [Int32: Int] = [:]

    /// - Parameter free: buffers that the driver does not hold.
    /// - Returns: the buffer that the descriptor had before; else one without a descriptor; else any, which makes the driver
    ///   import again. `nil` if no buffer is free.
    mutating func index(for dmabuf: Int32, free: Set<Int>) -> Int? {
        if let index = indexOfDescriptor[dmabuf], free.contains(index) { return index }
        let taken = Set(indexOfDescriptor.values)
        guard let index = free.subtracting(taken).min() ?? free.min() else { return nil }
        indexOfDescriptor = indexOfDescriptor.filter { $0.value != index }
        indexOfDescriptor[dmabuf] = index
        return index
    }
}
