import Filters
import FrameFiltering
import LinuxIO
import MediaPipeline
import StreamLogic

/// Changes of a live stream's filters, one after the other. The files for a change are read meanwhile.
struct FilterChanges {
    struct Request {
        let change: FilterChange
        let id: CommandID?
    }

    /// The filters now applied.
    var filters: LoadedFilters
    /// The change whose files are being read.
    var isLoading = false
    private(set) var waiting: [Request] = []

    /// They wait as long as the card takes for the files of the first.
    static let mostWaiting = 8

    /// - Returns: whether there was room.
    mutating func add(_ request: Request) -> Bool {
        guard waiting.count < Self.mostWaiting else { return false }
        waiting.append(request)
        return true
    }

    mutating func takeNext() -> Request? { isLoading || waiting.isEmpty ? nil : waiting.removeFirst() }
}

// Changing filters while live.
extension LiveStream {
    func filter(_ change: FilterChange, for id: CommandID?) {
        guard tracks.videoConfiguration != nil else { return refuse(.noVideo, for: id) }
        guard filterChanges.add(.init(change: change, id: id)) else {
            return refuse(.filtersWaiting(limit: FilterChanges.mostWaiting), for: id)
        }
        loadNextFilters()
    }

    private func loadNextFilters() {
        guard let request = filterChanges.takeNext() else { return }
        var chain = filterChanges.filters.chain
        do throws(FilterError) {
            try chain.set(request.change)
        } catch {
            refuse(.filter(error), for: request.id)
            return loadNextFilters()
        }
        filterChanges.isLoading = true
        do throws(SystemCallError) {
            // Reading the card may take long, and so may decoding a large image.
            _ = try NamedThread("filters", mayBlock: true) {
                [chain, reports = trackReports, previous = filterChanges.filters] in
                let result = Result { () throws(FilteringError) in try LoadedFilters(chain, reusing: previous) }
                reports.send(.video(.filtersLoaded(result, request.id)))
            }
        } catch {
            filterChanges.isLoading = false
            refuse(.system(reason: "\(error)"), for: request.id)
        }
    }

    func filtersLoaded(_ result: Result<LoadedFilters, FilteringError>, _ id: CommandID?) {
        filterChanges.isLoading = false
        switch result {
        case .failure(let error): refuse(.filterFiles(reason: "\(error)"), for: id)
        case .success(let filters):
            filterChanges.filters = filters
            control.setFilters(filters)
            reporter.emit(.filtered(filters.chain))
            if let id { reporter.answer(id, .done(filterLines)) }
        }
        loadNextFilters()
    }

    /// Each filter in the form that commands accept.
    var filterLines: [String] {
        let settings = filterChanges.filters.chain.settings
        return settings.isEmpty ? ["no filters"] : settings.map { "filter \($0)" }
    }

    /// Updates the stream's state in text filters.
    func showStatusInFrame() {
        guard tracks.videoConfiguration != nil else { return }
        var status = FilterStatus()
        status.name = settings.deviceName
        status.quality = adaptation.operatingPoint.videoQuality?.name ?? ""
        status.bitrate = adaptation.operatingPoint.videoBitrate
        if status != control.filterStatus { control.filterStatus = status }
    }
}
