import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the frames of another camera follow those of the present one. They may be in another memory, layout and size, and have
// other colours: each camera has encoders of its own. The next one opens while the present camera's frames go on, and takes over
// with the first frame of the next camera, which so becomes a keyframe; what is still in the one before comes out.
extension FallbackEncoder {
    public func prepare(for frames: SourceFrames) throws -> SourcePreparation {
        if succession.next?.frames != frames {
            dropSuccessor()
            succession.next = EncoderSuccession.NextSource(frames: frames)
        }
        try settleSize()
        // It takes whatever comes.
        if recovery.usesSoftware { readyForNext() }
        return succession.next?.preparation ?? .underWay
    }

    public func dropPreparation() {
        guard succession.next != nil else { return }
        dropSuccessor()
        succession.next = nil
    }

    func readyForNext() {
        let (wanted, frames) = target
        let size = layout(of: frames, for: wanted).size
        succession.next?.preparation = .ready(size)
    }

    public func sourceChanges(to frames: SourceFrames) throws {
        if succession.next?.frames != frames {
            dropSuccessor()
            succession.next = EncoderSuccession.NextSource(frames: frames)
        }
        defer { succession.next = nil }
        if let successor = succession.successor, case .open = successor.hardware.thread.progress {
            return cross(to: successor)
        }
        dropSuccessor()
        if recovery.usesSoftware {
            replaceSoftware()
        } else if hardware != nil, hardware?.isClosing == false {
            // It is not ready, or there is memory for one encoder only.
            try openInPlace()
        } else {
            // What is opened next is opened for these.
            let (wanted, frames) = target
            adopt(wanted, scaling(to: wanted), of: frames)
        }
    }

    /// One that does not open leaves the present one, which takes the frames as well.
    private func replaceSoftware() {
        let (wanted, frames) = target
        let successor = try? BudgetedEncoder(wanted)
        adopt(successor == nil ? configuration : wanted, scaling(to: wanted), of: frames)
        guard let successor, let present = software else { return requestKeyframe() }
        earlierConversions += present.encoder.conversionCount
        software = (successor, output.makeSource(of: frames.colors))
        if let source = software?.source { output.listen(to: source) }
    }
}
