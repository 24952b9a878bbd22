import DevicePorts
import LinuxIO
import Media
import StreamLogic

// How the encoder follows a source whose frames change: another camera, another size, or processing by the CPU.
extension VideoPipeline {
    /// - Returns: whether it is the first frame of another camera.
    func takeCameraChange(with frame: CapturedFrame) throws -> Bool {
        let new = source.frames
        guard new != frames else { return false }
        let isOther = new.camera != frames.camera
        frames = new
        isPreparing = false
        sourceSize = frame.layout.size
        try encoder.sourceChanges(to: frames)
        guard isOther, let cameras = source.switcher else { return false }
        pace(at: frameRate, from: frame.captureTime)
        output.cameraChanged(
            to: cameras.name, at: frame.captureTime, wished: cameras.lastWish ?? frame.captureTime)
        return true
    }

    /// The present frames continue until the encoder is ready for the next ones: another camera's frames, or the same camera's
    /// frames after processing by the CPU.
    func prepareForNextFrames() throws {
        let nextCamera = source.nextCamera
        guard let next = nextCamera ?? source.next else {
            if isPreparing { encoder.dropPreparation() }
            isPreparing = false
            return
        }
        isPreparing = true
        switch try encoder.prepare(for: next) {
        case .underWay: break
        case .ready(let size): if nextCamera == nil { source.handOver() } else { source.switcher?.handOver(at: size) }
        // If the device has no room for a second encoder, the present one is closed and reopened.
        case .failed(let reason):
            if nextCamera == nil { source.handOver() } else { source.switcher?.refuseNext(reason) }
        }
    }

    func selectSize() {
        guard encoder.sourceSize != sourceSize else { return }
        sourceSize = encoder.sourceSize
        source.sizes?.selectSize(sourceSize)
    }
}
