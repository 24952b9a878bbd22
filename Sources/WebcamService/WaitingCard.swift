import DevicePorts
import Filters
import FrameFiltering
import Media
import SoftwareEncoding

/// What a computer is shown while somebody at the camera has to agree.
enum WaitingCard {
    /// Programs that get nothing for seconds take the camera for broken.
    static let interval = Duration.milliseconds(200)

    /// Black, with what there is to do.
    static func frame(of size: FrameSize) throws -> CapturedFrame {
        let layout = FrameLayout(packed: .i420, size: size)
        let memory = PooledFrame(layout.black)
        let words = "text,text=Press the button of the camera,position=center,size=0.07"
        let pass = FilterPass(try LoadedFilters(try FilterChain(parsing: [words])))
        var failure: (any Error)?
        memory.withMutableBytes { bytes in
            do { try pass.apply(to: bytes, layout, nil, TextFields()) } catch { failure = error }
        }
        if let failure { throw failure }
        return CapturedFrame(layout: layout, captureTime: .zero, memory: memory)
    }
}
