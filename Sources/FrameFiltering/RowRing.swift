/// The most recent rows of something, each with room for `padding` more elements at both ends. Allocates only once.
final class RowRing<Element: BinaryInteger> {
    let width: Int
    private let padding: Int
    private let count: Int
    private let memory: UnsafeMutablePointer<Element>

    /// - Parameter count: how many consecutive rows are kept.
    init(count: Int, width: Int, padding: Int = 0) {
        self.width = width
        self.padding = padding
        self.count = count
        memory = .allocate(capacity: count * (width + 2 * padding))
        clear()
    }

    deinit { memory.deallocate() }

    func clear() { memory.initialize(repeating: 0, count: count * (width + 2 * padding)) }

    /// The first element of a row, which replaces the row `count` before it.
    func row(_ number: Int) -> UnsafeMutablePointer<Element> {
        memory + number % count * (width + 2 * padding) + padding
    }

    /// Repeats the row's first and last element into the padding.
    func extend(_ number: Int) {
        let row = row(number)
        (row - padding).update(repeating: row[0], count: padding)
        (row + width).update(repeating: row[width - 1], count: padding)
    }
}
