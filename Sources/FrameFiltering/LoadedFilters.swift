import CFreeType
import Filters
import LinuxIO

/// A chain of filters with all files that it needs, read, checked and decoded. From here on, nothing about them can fail.
public struct LoadedFilters: Sendable {
    static let largestImageFile = 8 << 20
    static let largestFontFile = 32 << 20

    /// Read once for all filters that use it.
    private struct File<Content: Sendable>: Sendable {
        /// `nil` if the path no longer led to a regular file.
        let state: FileState?
        let content: Content
    }

    public let chain: FilterChain
    private var images: [String: File<DecodedImage>] = [:]
    private var fonts: [String: File<FontFile>] = [:]
    private var cubes: [String: File<ColorCube>] = [:]

    /// An empty chain.
    public init() { chain = FilterChain() }

    /// Reads files, which may take as long as the card does.
    /// - Parameter previous: files that have not changed since are taken from here.
    public init(_ chain: FilterChain, reusing previous: LoadedFilters = LoadedFilters()) throws(FilteringError) {
        self.chain = chain
        for setting in chain.settings {
            if setting.name == .image, let path = setting.path(.file), images[path] == nil {
                images[path] = try Self.file(path, setting.id, previous.images, limit: Self.largestImageFile) {
                    bytes throws(FilteringError) in try DecodedImage(bytes, path, setting.id)
                }
            }
            if setting.name == .lut, let path = setting.path(.file), cubes[path] == nil {
                cubes[path] = try Self.file(path, setting.id, previous.cubes, limit: ColorCube.largestFile) {
                    bytes throws(FilteringError) in try Self.cube(bytes, path, setting.id)
                }
            }
            if let path = setting.path(.font), fonts[path] == nil {
                fonts[path] = try Self.file(path, setting.id, previous.fonts, limit: Self.largestFontFile) {
                    bytes throws(FilteringError) in try FontFile(bytes, path, setting.id)
                }
            }
        }
    }

    /// The same chain. When passed as `previous`, it also offers the files of the other chain.
    public func knowing(filesOf other: LoadedFilters) -> LoadedFilters {
        var both = self
        both.images.merge(other.images) { own, _ in own }
        both.fonts.merge(other.fonts) { own, _ in own }
        both.cubes.merge(other.cubes) { own, _ in own }
        return both
    }

    private static func cube(
        _ bytes: [UInt8], _ path: String, _ filter: FilterID
    ) throws(FilteringError) -> ColorCube {
        do throws(ColorCubeError) {
            return try ColorCube(parsing: bytes)
        } catch {
            throw .unusableCube(filter, path: path, error)
        }
    }

    private static func file<Content: Sendable>(
        _ path: String, _ filter: FilterID, _ known: [String: File<Content>], limit: Int,
        _ decode: ([UInt8]) throws(FilteringError) -> Content
    ) throws(FilteringError) -> File<Content> {
        let state = FileState(path)
        // A file that has disappeared from the card is still in memory.
        if let file = known[path], state == nil || file.state == state { return file }
        let bytes: [UInt8]
        do throws(SystemCallError) {
            bytes = try readRegularFile(path, limit: limit)
        } catch {
            throw .unreadableFile(filter, error)
        }
        return File(state: state, content: try decode(bytes))
    }

    func filter(for setting: FilterSetting) -> any FrameFilter {
        switch setting.name {
        case .image: ImageFilter(setting, image(of: setting))
        case .text: TextFilter(setting, font(of: setting))
        case .lut:
            if let cube = setting.path(.file).flatMap({ cubes[$0]?.content }) {
                LookFilter(cube, strength: setting.number(.strength))
            } else {
                // Filters without their file are refused earlier.
                LookFilter(.identity, strength: 0)
            }
        case .smooth: SmoothFilter(strength: setting.number(.strength))
        case .whiten: WhitenFilter(strength: setting.number(.strength))
        case .redden: ReddenFilter(strength: setting.number(.strength))
        case .crop: CropFilter(setting)
        case .gray: GrayFilter()
        case .mirror: MirrorFilter()
        }
    }

    private func image(of setting: FilterSetting) -> DecodedImage {
        setting.path(.file).flatMap { images[$0]?.content } ?? .nothing
    }

    private func font(of setting: FilterSetting) -> FontFile {
        setting.path(.font).flatMap { fonts[$0]?.content } ?? .builtIn
    }

    /// Whether an existing filter uses the files that are loaded now.
    func hasSameFiles(as filter: any FrameFilter) -> Bool {
        switch filter {
        case let filter as ImageFilter: images.values.contains { $0.content === filter.image }
        case let filter as TextFilter:
            filter.font === FontFile.builtIn || fonts.values.contains { $0.content === filter.font }
        case let filter as LookFilter: cubes.values.contains { $0.content === filter.cube }
        default: true
        }
    }
}
