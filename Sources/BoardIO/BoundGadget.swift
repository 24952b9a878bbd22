import Glibc
import LinuxIO
import Synchronization
import USBVideo

/// Why the board cannot act as a USB device.
public enum GadgetError: Error, Hashable, Sendable {
    /// The kernel has no device controller: the board lacks one, or its port works as a host.
    case noController
    /// libcomposite is missing, or configfs is not mounted.
    case noGadgets(path: String)
    case taken(controller: String, by: String?)
    /// This program's gadget of the same name has not been removed by the kernel yet.
    case stillThere(name: String)
    case failed(SystemCallError)
}

extension GadgetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noController:
            "this board has no USB device port: a Zero 2 W, 4, CM4 and 5 have one, with dtoverlay=dwc2 "
                + "in config.txt; a 3B has none"
        case .noGadgets(let path): "the kernel does not support USB gadgets: there is no \(path)"
        case .taken(let controller, let gadget):
            "\(controller) is in use by \(gadget.map { "the gadget \($0)" } ?? "another gadget, perhaps g_ether"); "
                + "remove that first"
        case .stillThere(let name): "the previous gadget \(name) is still being removed"
        case .failed(let error): "\(error)"
        }
    }
}

/// A gadget in the kernel's configfs, bound to the board's device controller. It is removed completely when the object goes
/// away. Used from one thread.
public final class BoundGadget {
    private static let root = "/sys/kernel/config/usb_gadget"
    private static let controllers = "/sys/class/udc"
    /// Names that this process uses, because each directory has one owner.
    private static let present = Mutex<Set<String>>([])

    /// The controller's name in the kernel.
    public let controller: String
    private let name: String
    private var path: String { "\(Self.root)/\(name)" }

    /// Why no gadget can be created right now, as far as that is known without trying. Never blocks.
    public static var absence: GadgetError? {
        guard access(root, F_OK) == 0 else { return .noGadgets(path: root) }
        return entries(of: controllers).isEmpty ? .noController : nil
    }

    /// Removes leftovers of an earlier run under this name, then creates the gadget.
    /// - Parameter name: name of its directory.
    public init(_ tree: GadgetTree, name: String) throws(GadgetError) {
        guard access(Self.root, F_OK) == 0 else { throw .noGadgets(path: Self.root) }
        guard Self.present.withLock({ $0.insert(name).inserted }) else { throw .stillThere(name: name) }
        self.name = name
        do throws(GadgetError) {
            controller = try Self.make(tree, at: "\(Self.root)/\(name)")
        } catch {
            Self.present.withLock { _ = $0.remove(name) }
            throw error
        }
    }

    deinit {
        Self.remove(path)
        Self.present.withLock { _ = $0.remove(name) }
    }

    /// - Returns: the controller that it is bound to. Nothing is left behind on failure.
    private static func make(_ tree: GadgetTree, at path: String) throws(GadgetError) -> String {
        remove(path)
        guard let controller = entries(of: controllers).first else { throw .noController }
        do throws(SystemCallError) {
            try makeDirectory(path)
            for step in tree.steps { try make(step, in: path) }
        } catch {
            remove(path)
            throw .failed(error)
        }
        do throws(SystemCallError) {
            try write(Array(controller.utf8), to: "\(path)/UDC")
        } catch {
            let owner = owner(of: controller)
            remove(path)
            throw error.number == EBUSY ? .taken(controller: controller, by: owner) : .failed(error)
        }
        return controller
    }

    /// Removes the leftovers of a run that ended early. The kernel may block the calling thread.
    public static func removeLeftovers(name: String) {
        guard present.withLock({ $0.insert(name).inserted }) else { return }
        remove("\(root)/\(name)")
        present.withLock { _ = $0.remove(name) }
    }

    private static func make(_ step: GadgetTree.Step, in root: String) throws(SystemCallError) {
        switch step {
        case .directory(let path): try makeDirectory("\(root)/\(path)")
        case .file(let path, let text): try write(Array(text.utf8), to: "\(root)/\(path)")
        case .bytes(let path, let bytes): try write(bytes, to: "\(root)/\(path)")
        case .link(let path, let target):
            guard symlink("\(root)/\(target)", "\(root)/\(path)") == 0 else {
                throw SystemCallError("symlink", subject: "\(root)/\(path)")
            }
        }
    }

    private static func makeDirectory(_ path: String) throws(SystemCallError) {
        guard mkdir(path, 0o755) == 0 else { throw SystemCallError("mkdir", subject: path) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemCallError) {
        let file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY)
        do throws(SystemCallError) {
            // Write everything in one call: the kernel takes each call as a separate value.
            try file.writeAll(bytes)
        } catch {
            throw SystemCallError("write", number: error.number, subject: path)
        }
    }

    /// - Returns: the gadget that is bound to it.
    private static func owner(of controller: String) -> String? {
        entries(of: root).first { name in
            let text = (try? readFile("\(root)/\(name)/UDC", limit: 256)) ?? []
            return String(decoding: text.prefix { $0 > 32 }, as: UTF8.self) == controller
        }
    }

    private static func remove(_ path: String) {
        guard access(path, F_OK) == 0 else { return }
        try? write([UInt8(ascii: "\n")], to: "\(path)/UDC")
        let (directories, links) = contents(of: path)
        // A link keeps its target alive, which may contain links itself.
        for _ in 0..<4 { for link in links { unlink(link) } }
        // The kernel's own directories disappear together with those that were created.
        for directory in directories.reversed() { rmdir(directory) }
        rmdir(path)
    }

    /// All directories below this one, parents first, and all links.
    private static func contents(of path: String) -> (directories: [String], links: [String]) {
        var (directories, links): ([String], [String]) = ([], [])
        for entry in entries(of: path) {
            let below = "\(path)/\(entry)"
            var status = stat()
            guard lstat(below, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFLNK {
                links.append(below)
            } else if status.st_mode & S_IFMT == S_IFDIR {
                let found = contents(of: below)
                directories += [below] + found.directories
                links += found.links
            }
        }
        return (directories, links)
    }

    private static func entries(of directory: String) -> [String] {
        ((try? fileNames(in: directory)) ?? []).filter { $0 != "." && $0 != ".." }.sorted()
    }
}
