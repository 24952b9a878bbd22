import DevicePorts
import LinuxIO
import Media
import StreamLogic

// Switches to another camera's frames. Their memory, layout, size and colors may differ, so each camera has its own encoders. The
// next encoder opens while the present camera's frames continue. It takes over with the next camera's first frame, which becomes
// a keyframe. Frames still inside the previous encoder come out.
extension FallbackEncoder {
    public func prepare(for frames: SourceFrames) throws -> SourcePreparation {
        try perform(succession.sourceExpected(frames))
        try advanceSuccession()
        switch succession.preparation {
        case .underWay: return .underWay
        case .ready: return .ready(layout(of: frames, for: goal.configuration).size)
        case .failed(let reason): return .failed(reason: reason)
        }
    }

    public func dropPreparation() {
        if !succession.sourceWithdrawn().isEmpty { closeSuccessor() }
    }

    public func sourceChanges(to frames: SourceFrames) throws {
        defer { succession.sourceSettled() }
        try perform(succession.sourceChanged(to: frames, situation))
    }

    /// If it does not open, the present encoder stays and accepts these frames, too.
    func replaceSoftware() {
        let (wanted, frames) = goal
        let successor = try? BudgetedEncoder(wanted)
        adopt(successor == nil ? configuration : wanted, scaling(to: wanted), of: frames)
        guard let successor, let present = software else { return requestKeyframe() }
        earlierConversions += present.encoder.conversionCount
        software = (successor, output.makeSource(of: frames.colors))
        if let source = software?.source { output.listen(to: source) }
    }
}
