import HTTP
import Media
import PageFiles
import PageLogic
import Transport

/// The files of the page with their tags.
struct PageAssets {
    private struct Asset {
        let file: PageFile
        let tag: HTTPEntityTag
    }

    private let assets: [String: Asset]

    init() {
        let files = PageFile.all().map { file in
            (file.name, Asset(file: file, tag: HTTPEntityTag(SHA256.digest(of: file.packed).hexadecimal)))
        }
        assets = Dictionary(uniqueKeysWithValues: files)
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        let name = request.path == "/" ? "index.html" : String(request.path.dropFirst())
        guard let asset = assets[name] else {
            return .refusal(.notFound, name: "unknownPath", "there is nothing under this path")
        }
        let isKnown = request.ifNoneMatch?.matchesWeakly(asset.tag) ?? false
        let body = isKnown ? [] : request.acceptsGzip ? asset.file.packed : asset.file.unpacked ?? []
        var response =
            isKnown ? HTTPResponse(.notModified) : HTTPResponse(.ok, contentType: asset.file.mediaType, body)
        if request.acceptsGzip, !isKnown { response.set("Content-Encoding", "gzip") }
        response.set("ETag", asset.tag.headerValue)
        response.set("Vary", "Accept-Encoding")
        // Browsers ask each time, because an update of the program may bring another page.
        response.set("Cache-Control", "no-cache")
        return response
    }
}
