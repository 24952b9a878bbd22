import CLinux
import Glibc
import LinuxIO

/// How the parts of a camera are linked when each has its own node (the kernel manual's "Media Controller devices").
struct MediaGraph {
    /// A device node's number.
    struct NodeNumber: Hashable {
        let major: UInt32
        let minor: UInt32
    }

    struct Link: Hashable {
        let source: UInt32
        let sink: UInt32
        let flags: UInt32

        var type: UInt32 { flags & clinux_media_link_type }
    }

    /// Functions of entities, by identifier.
    var functions: [UInt32: UInt32] = [:]
    /// Node numbers of interfaces.
    var nodes: [UInt32: NodeNumber] = [:]
    /// The entity of each pad.
    var pads: [UInt32: UInt32] = [:]
    var links: [Link] = []

    /// - Returns: the lens of the sensor that the node's frames come from; `nil` without one, or if several cannot be
    ///   distinguished.
    func lens(of camera: NodeNumber) -> NodeNumber? {
        let chain = upstream(of: camera)
        let linked = links.filter { $0.type == clinux_media_ancillary_link && chain.contains($0.source) }.map(\.sink)
        let lenses = linked.filter(isLens)
        // Drivers older than these links leave the lens unconnected.
        let free = functions.keys.filter { id in
            isLens(id) && !links.contains { $0.type == clinux_media_ancillary_link && $0.sink == id }
        }
        let candidates = lenses.isEmpty ? free : lenses
        return candidates.count == 1 ? candidates.first.flatMap(node) : nil
    }

    private func isLens(_ entity: UInt32) -> Bool { functions[entity] == clinux_media_entity_lens }

    private func node(of entity: UInt32) -> NodeNumber? {
        let link = links.first {
            $0.type == clinux_media_interface_link && $0.sink == entity && nodes[$0.source] != nil
        }
        return link.flatMap { nodes[$0.source] }
    }

    /// The node's entity and every entity that its frames pass through on the way.
    private func upstream(of camera: NodeNumber) -> Set<UInt32> {
        let interfaces = Set(nodes.filter { $0.value == camera }.keys)
        var reached: Set<UInt32> = []
        var rest = links.filter { $0.type == clinux_media_interface_link && interfaces.contains($0.source) }.map(\.sink)
        while let entity = rest.popLast() {
            guard reached.insert(entity).inserted else { continue }
            for link in links where link.type == clinux_media_data_link && pads[link.sink] == entity {
                guard link.flags & clinux_media_link_enabled != 0, let source = pads[link.source] else { continue }
                rest.append(source)
            }
        }
        return reached
    }
}

extension MediaGraph {
    /// More entities than any camera has.
    private static let largest: UInt32 = 4096

    /// Reads the graph of a media device such as `/dev/media0`; `nil` if it has none.
    init?(of path: String) {
        guard let device = try? OwnedFileDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK) else { return nil }
        var topology = media_v2_topology()
        guard ioctl(device.rawValue, clinux_media_ioc_g_topology, &topology) == 0,
            max(topology.num_entities, topology.num_interfaces, topology.num_pads, topology.num_links) <= Self.largest
        else { return nil }
        var entities = [media_v2_entity](repeating: media_v2_entity(), count: Int(topology.num_entities))
        var interfaces = [media_v2_interface](repeating: media_v2_interface(), count: Int(topology.num_interfaces))
        var pads = [media_v2_pad](repeating: media_v2_pad(), count: Int(topology.num_pads))
        var links = [media_v2_link](repeating: media_v2_link(), count: Int(topology.num_links))
        let status = entities.withUnsafeMutableBytes { entities in
            interfaces.withUnsafeMutableBytes { interfaces in
                pads.withUnsafeMutableBytes { pads in
                    links.withUnsafeMutableBytes { links in
                        topology.ptr_entities = Self.address(entities)
                        topology.ptr_interfaces = Self.address(interfaces)
                        topology.ptr_pads = Self.address(pads)
                        topology.ptr_links = Self.address(links)
                        return ioctl(device.rawValue, clinux_media_ioc_g_topology, &topology)
                    }
                }
            }
        }
        // ENOSPC means the graph has grown meanwhile.
        guard status == 0 else { return nil }
        self.init()
        for entity in entities { functions[entity.id] = entity.function }
        for interface in interfaces {
            nodes[interface.id] = NodeNumber(major: interface.devnode.major, minor: interface.devnode.minor)
        }
        for pad in pads { self.pads[pad.id] = pad.entity_id }
        self.links = links.map { Link(source: $0.source_id, sink: $0.sink_id, flags: $0.flags) }
    }

    private static func address(_ bytes: UnsafeMutableRawBufferPointer) -> UInt64 {
        UInt64(UInt(bitPattern: bytes.baseAddress))
    }
}
