import DevicePorts
import Filters
import LinuxIO
import Media

/// Applies a chain of filters to frames, in place, in one pass over bands of rows, so that each filter finds its input still in
/// the cache. Prepares itself for each new layout and color space. Frames of the same layout need no allocation while no text
/// changes. Used from one thread.
///
///     let filters = try LoadedFilters(chain)                          // reads files; on any thread
///     let pass = FilterPass(filters)
///     try pass.apply(to: bytes, layout, colors, fields)               // for each frame
///     pass.use(try LoadedFilters(changed, reusing: filters))          // between two frames
///     pass.costs, pass.dropMostExpensive(), pass.restoreLast()        // when time is short, and when there is some again
public final class FilterPass {
    /// A band, together with the filters' state for it, fits into the smallest board's cache.
    private static let bandRows = 32

    private struct Stage {
        let setting: FilterSetting
        let filter: any FrameFilter
        /// Cached, because there are many bands.
        let isIdentity: Bool
        var cost: FilterCost
        /// The format that the filter is prepared for.
        var format: FrameFormat?
        /// Rows of the present frame that are finished.
        var finishedRows = 0

        init(_ setting: FilterSetting, _ filter: any FrameFilter, _ cost: FilterCost) {
            self.setting = setting
            self.filter = filter
            self.cost = cost
            isIdentity = filter.isIdentity
        }

        var isActive: Bool { !cost.isDropped && !isIdentity }

        mutating func apply(upTo readyRows: Int, of planes: FramePlanes) -> Int {
            let isComplete = readyRows == planes.size.height
            let end = isComplete ? readyRows : max(finishedRows, readyRows - filter.lookahead)
            if end > finishedRows { filter.apply(to: finishedRows..<end, of: planes) }
            finishedRows = end
            return end
        }
    }

    private var stages: [Stage] = []
    /// In the order in which they were dropped.
    private var dropped: [FilterID] = []

    public private(set) var filters: LoadedFilters

    public init(_ filters: LoadedFilters) {
        self.filters = filters
        stages = Self.stages(of: filters, before: [])
    }

    /// True if there is nothing to do, so that frames need not be mapped.
    public var isIdle: Bool { !stages.contains(where: \.isActive) }

    /// Takes effect with the next frame. Unchanged filters keep their state, including whether they are dropped.
    public func use(_ filters: LoadedFilters) {
        stages = Self.stages(of: filters, before: stages)
        dropped.removeAll { id in !stages.contains { $0.setting.id == id } }
        self.filters = filters
    }

    private static func stages(of filters: LoadedFilters, before: [Stage]) -> [Stage] {
        filters.chain.settings.map { setting in
            let known = before.first { $0.setting.id == setting.id }
            if let known, known.setting == setting, filters.hasSameFiles(as: known.filter) { return known }
            return Stage(setting, filters.filter(for: setting), known?.cost ?? FilterCost(setting.id))
        }
    }

    /// - Parameters:
    ///   - bytes: the frame's memory, starting where `layout` counts from. Bytes outside the planes are not touched.
    ///   - layout: NV12 or I420 in linear rows, with sides from 2 to 8192.
    ///   - colors: `nil` for the colors that players assume for this frame size.
    ///   - fields: the frame's fields, for text.
    /// - Throws: for any other frame, which stays unchanged.
    public func apply(
        to bytes: UnsafeMutableRawBufferPointer, _ layout: FrameLayout, _ colors: VideoColors?, _ fields: TextFields
    ) throws(FilteringError) {
        let planes = try FramePlanes(bytes, layout)
        var time = MonotonicClock.now()
        prepare(for: FrameFormat(planes, colors ?? .usual(for: layout.size)), since: &time)
        for index in stages.indices where stages[index].isActive {
            stages[index].finishedRows = 0
            stages[index].filter.startFrame(fields)
            stages[index].cost.add(since: &time)
        }
        var readyRows = 0
        while readyRows < layout.size.height {
            readyRows = min(readyRows + Self.bandRows, layout.size.height)
            var rows = readyRows
            for index in stages.indices where stages[index].isActive {
                rows = stages[index].apply(upTo: rows, of: planes)
                stages[index].cost.add(since: &time)
            }
        }
        for index in stages.indices where stages[index].isActive { stages[index].cost.endFrame() }
    }

    private func prepare(for format: FrameFormat, since time: inout MediaTimestamp) {
        for index in stages.indices where stages[index].format != format && stages[index].isActive {
            stages[index].filter.prepare(for: format)
            stages[index].format = format
            stages[index].cost.addPreparation(since: &time)
        }
    }

    /// Costs of all filters, in the chain's order.
    public var costs: [FilterCost] { stages.map(\.cost) }

    /// Recent time per frame in nanoseconds, for all active filters.
    public var recentCost: Double { stages.reduce(0) { $0 + ($1.isActive ? $1.cost.recent : 0) } }

    /// Drops the filter that has recently taken the most time.
    /// - Returns: `nil` if no filter is active.
    public func dropMostExpensive() -> FilterID? {
        let active = stages.indices.filter { stages[$0].isActive }
        guard let index = active.max(by: { stages[$0].cost.recent < stages[$1].cost.recent }) else { return nil }
        stages[index].cost.isDropped = true
        dropped.append(stages[index].setting.id)
        return stages[index].setting.id
    }

    /// Restores the filter that was dropped last.
    /// - Returns: `nil` if none is dropped.
    public func restoreLast() -> FilterID? {
        guard let id = dropped.popLast() else { return nil }
        for index in stages.indices where stages[index].setting.id == id { stages[index].cost.restore() }
        return id
    }
}

/// The time that a filter has taken so far.
public struct FilterCost: Hashable, Sendable {
    public let filter: FilterID
    public private(set) var frames = 0
    /// Includes preparing the filter for each frame size.
    public private(set) var nanoseconds: Int64 = 0
    /// Nanoseconds per frame, averaged over about sixteen frames.
    public private(set) var recent = 0.0
    /// Whether it was dropped because it took too much time.
    public internal(set) var isDropped = false
    private var ofFrame: Int64 = 0
    private var isFresh = true

    init(_ filter: FilterID) { self.filter = filter }

    mutating func add(since time: inout MediaTimestamp) {
        let now = MonotonicClock.now()
        ofFrame += (now - time).wholeNanoseconds
        time = now
    }

    /// Preparation says nothing about later frames, so it does not count for `recent`.
    mutating func addPreparation(since time: inout MediaTimestamp) {
        let now = MonotonicClock.now()
        nanoseconds += (now - time).wholeNanoseconds
        time = now
    }

    /// Earlier timings say nothing about the present.
    mutating func restore() {
        isDropped = false
        isFresh = true
    }

    mutating func endFrame() {
        defer { isFresh = false }
        recent = isFresh ? 0 : recent
        recent += isFresh ? Double(ofFrame) : (Double(ofFrame) - recent) / 16
        nanoseconds += ofFrame
        frames += 1
        ofFrame = 0
    }
}
