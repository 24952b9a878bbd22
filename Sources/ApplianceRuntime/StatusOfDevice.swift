import ApplianceLogic
import CommandChannels
import Media
import StreamLogic

// The present status, from the parts of the device that know it.

extension ApplianceStatus {
    init(of device: ApplianceDevice, now: MediaTimestamp) {
        let (appliance, files, summary) = (device.appliance, device.files, device.supervisor.summary)
        self.init(
            state: appliance.state, quality: QualityReading(of: device), webcam: device.webcam.status,
            runningTime: now - device.start)
        isStreamWanted = appliance.wantsStream
        isPaused = appliance.isPaused
        destination = files.stream?.destination
        stream = StreamReading(status: summary.status, camera: summary.camera, point: summary.point)
        network = device.network.reading
        page = device.page.urls
        recording = device.recording.reading
        board = files.board?.name
        faults = appliance.faults
        details = appliance.faultBook.lines
    }
}

extension ApplianceStatus.QualityReading {
    init(of device: ApplianceDevice) {
        let (summary, file) = (device.supervisor.summary, device.files.device)
        if device.stream.isRunning, let point = summary.point {
            self = .sent(point, summary.status)
        } else {
            self = .next(
                start: file.startQuality, lowest: file.lowestQuality, highest: file.highestQuality,
                dimension: file.dimension)
        }
    }
}
