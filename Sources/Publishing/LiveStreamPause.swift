import FrameFiltering
import LinuxIO
import StreamLogic

// Sends silence and a still frame in place of microphones and camera.
extension LiveStream {
    func startPause() {
        loadPauseImage()
        guard settings.isPaused else { return }
        adaptation.paused(true)
        reporter.emit(.paused(true))
    }

    func setPaused(_ isPaused: Bool, for id: CommandID?) {
        guard control.setPaused(isPaused) else {
            return answer(id, isPaused ? "the stream is paused already" : "the stream is not paused")
        }
        adaptation.paused(isPaused)
        let event = StreamEvent.paused(isPaused)
        reporter.emit(event)
        showSnapshot(isDue: true)
        if let id { reporter.answer(id, .done([event.text ?? ""])) }
    }

    /// Reading the card may take long, and so may decoding a large image. Without the image, the last frame is shown.
    func loadPauseImage() {
        guard let path = settings.pauseImage, tracks.videoConfiguration != nil else { return }
        do throws(SystemCallError) {
            _ = try NamedThread("pause-image", mayBlock: true) { [control, reports = trackReports] in
                do throws(StillImageError) {
                    control.setPauseImage(try StillImage(reading: path))
                } catch {
                    control.setPauseImage(nil)
                    reports.send(.video(.changed(.pauseImageUnusable(reason: "\(error)"))))
                }
            }
        } catch {
            reporter.emit(.pauseImageUnusable(reason: "\(error)"))
        }
    }
}
