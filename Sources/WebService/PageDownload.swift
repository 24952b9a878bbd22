import HTTP
import Media

/// A recording on its way to a browser. Used from the thread "page".
struct PageDownload {
    /// The disk is asked for so much at a time.
    static let portion = 128 * 1024

    let file: RecordedFile
    let request: HTTPRequest
    /// What the disk was not asked for yet.
    var rest: Range<Int>
    /// Bytes that the disk was asked for; 0 if it was not.
    var askedCount = 0
}

extension PageThread {
    func take(_ report: PageDisk.Report, now: MediaTimestamp) {
        switch report {
        case .listed(let id, let json):
            answer(id, .json(json), now: now)
        case .missing(let id): answer(id, .refusal(.notFound, name: "noFile", "there is no such recording"), now: now)
        case .opened(let id, let file): startDownload(of: file, to: id, now: now)
        case .read(let id, let bytes): deliver(bytes, to: id, now: now)
        case .failed(let id, let text):
            if let client = client(id), case .download = client.state { client.isDone = true }
            answer(id, .refusal(.serviceUnavailable, name: "disk", text), now: now)
        }
    }

    private func client(_ id: UInt64) -> PageClient? { clients.first { $0.id == id } }

    private func answer(_ id: UInt64, _ response: HTTPResponse, now: MediaTimestamp) {
        guard let client = client(id), case .waiting(let request) = client.state else { return }
        respond(to: client, request, response, now: now)
    }

    private func startDownload(of file: RecordedFile, to id: UInt64, now: MediaTimestamp) {
        guard let client = client(id), case .waiting(let request) = client.state else { return }
        // With it, a browser goes on where a download has broken off.
        let tag = HTTPEntityTag(file.version)
        let wanted = request.range(of: tag).map { $0.within(file.byteCount) }
        if case .some(nil) = wanted {
            var response = HTTPResponse(.rangeNotSatisfiable)
            response.set("Content-Range", HTTPByteRange.contentRange(of: file.byteCount))
            return respond(to: client, request, response, now: now)
        }
        let range = (wanted ?? nil) ?? 0..<file.byteCount
        var response = HTTPResponse(wanted == nil ? .ok : .partialContent, body: .following(byteCount: range.count))
        response.set("Content-Type", "video/mp4")
        response.set("Accept-Ranges", "bytes")
        response.set("ETag", tag.headerValue)
        if wanted != nil { response.set("Content-Range", HTTPByteRange.contentRange(range, of: file.byteCount)) }
        guard !range.isEmpty, response.sendsBody(for: request.method) else {
            return respond(to: client, request, response, now: now)
        }
        respond(
            to: client, request, response, then: .download(PageDownload(file: file, request: request, rest: range)),
            now: now)
        continueDownload(to: client)
    }

    /// Asks the disk for the next portion once the browser has taken the last one.
    func continueDownload(to client: PageClient) {
        guard case .download(var download) = client.state, client.output.isEmpty, download.askedCount == 0 else {
            return
        }
        let portion = download.rest.prefix(PageDownload.portion)
        download.askedCount = portion.count
        download.rest = portion.upperBound..<download.rest.upperBound
        client.state = .download(download)
        disk.read(portion.lowerBound..<portion.upperBound, of: download.file, for: client.id)
    }

    private func deliver(_ bytes: [UInt8], to id: UInt64, now: MediaTimestamp) {
        guard let client = client(id), case .download(var download) = client.state else { return }
        // The length was promised: a file that has become shorter breaks the connection off.
        guard bytes.count == download.askedCount else { return client.isDone = true }
        download.askedCount = 0
        let isLast = download.rest.isEmpty
        client.state = isLast ? (download.request.keepsAlive ? .reading : .closing) : .download(download)
        client.send(bytes, now: now)
        continueDownload(to: client)
    }
}
