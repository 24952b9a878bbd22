import CLinux
import Testing

@testable import V4L2Devices

/// Sensor 1 with lens 2, sensor 3 with lens 4, and a receiver for each, with nodes 81:0 and 81:1.
@Suite struct MediaGraphTests {
    private let cameras = [MediaGraph.NodeNumber(major: 81, minor: 0), MediaGraph.NodeNumber(major: 81, minor: 1)]
    private let lenses = [MediaGraph.NodeNumber(major: 81, minor: 12), MediaGraph.NodeNumber(major: 81, minor: 14)]

    private func graph(ancillary: Bool, lenses lensCount: Int = 2, isEnabled: Bool = true) -> MediaGraph {
        var graph = MediaGraph()
        for index in 0..<2 {
            let (sensor, lens, receiver) = (UInt32(1 + 2 * index), UInt32(2 + 2 * index), UInt32(5 + index))
            let number = UInt32(index)
            graph.functions[sensor] = 0x20001
            graph.functions[receiver] = 0x10001
            graph.pads[100 + number] = sensor
            graph.pads[110 + number] = receiver
            graph.nodes[200 + number] = cameras[index]
            let enabled = isEnabled ? clinux_media_link_enabled : 0
            graph.links += [
                MediaGraph.Link(source: 100 + number, sink: 110 + number, flags: clinux_media_data_link | enabled),
                MediaGraph.Link(source: 200 + number, sink: receiver, flags: clinux_media_interface_link),
            ]
            guard index < lensCount else { continue }
            graph.functions[lens] = clinux_media_entity_lens
            graph.nodes[210 + number] = lenses[index]
            graph.links.append(
                MediaGraph.Link(source: 210 + number, sink: lens, flags: clinux_media_interface_link))
            if ancillary {
                graph.links.append(MediaGraph.Link(source: sensor, sink: lens, flags: clinux_media_ancillary_link))
            }
        }
        return graph
    }

    @Test(arguments: [0, 1]) func eachSensorGetsItsOwnLens(index: Int) {
        #expect(graph(ancillary: true).lens(of: cameras[index]) == lenses[index])
    }

    @Test func indistinguishableLensesAreNotUsed() {
        #expect(graph(ancillary: false).lens(of: cameras[0]) == nil)
        // The frames would come from the other sensor.
        #expect(graph(ancillary: true, isEnabled: false).lens(of: cameras[0]) == nil)
    }

    @Test func onlyUnlinkedLensIsUsed() {
        #expect(graph(ancillary: false, lenses: 1).lens(of: cameras[0]) == lenses[0])
        #expect(graph(ancillary: false, lenses: 0).lens(of: cameras[0]) == nil)
        // This lens belongs to the other sensor.
        #expect(graph(ancillary: true, lenses: 1).lens(of: cameras[1]) == nil)
    }

    @Test func circularGraphIsHandled() {
        var graph = graph(ancillary: true)
        graph.links.append(
            MediaGraph.Link(
                source: 110, sink: 100, flags: clinux_media_data_link | clinux_media_link_enabled))
        #expect(graph.lens(of: cameras[0]) == lenses[0])
    }
}
