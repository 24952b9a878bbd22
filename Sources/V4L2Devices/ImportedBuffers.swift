/// Which of a queue's buffers each descriptor goes into: the same one each time, so that the driver imports it once.
struct ImportedBuffers {
    private var indexOfDescriptor: [Int32: Int] = [:]

    /// - Parameter free: buffers that the driver does not have.
    /// - Returns: for a descriptor the buffer that it was used with before; else one that no descriptor has, else any: the
    ///   driver imports anew then. `nil` when none is free.
    mutating func index(for dmabuf: Int32, free: Set<Int>) -> Int? {
        if let index = indexOfDescriptor[dmabuf], free.contains(index) { return index }
        let taken = Set(indexOfDescriptor.values)
        guard let index = free.subtracting(taken).min() ?? free.min() else { return nil }
        indexOfDescriptor = indexOfDescriptor.filter { $0.value != index }
        indexOfDescriptor[dmabuf] = index
        return index
    }
}
