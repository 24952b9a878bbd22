// Takes frames of a libcamera camera and prints, as JSON, libcamera's metadata and the frames' content:
//   camera_probe CAMERA WIDTHxHEIGHT FRAMES [control=value ...] [@FRAME control=value ...]
// The first line describes the configured camera: its controls' ranges, its properties and its stride. A line per frame
// follows: the metadata, and the mean Y, Cb and Cr of 16 by 12 fields with the spread of their Y. Controls after @FRAME are set
// with that request. Values are numbers, with / between those of a list; colors=709 and colors=601 choose limited range,
// otherwise it is full, 601; sensor=WIDTHxHEIGHT chooses the sensor's mode, save=FILE keeps the last frame.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <libcamera/libcamera.h>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace libcamera;

namespace {

struct Wanted {
    std::string camera;
    Size size;
    unsigned frames = 0;
    std::optional<ColorSpace> colors = ColorSpace::Sycc;
    std::string save;
    // The sensor's mode; when it is empty, libcamera chooses one for the size.
    Size sensor;
    // By the number of the request that sets them.
    std::map<unsigned, std::vector<std::pair<std::string, std::string>>> controls;
};

[[noreturn]] void fail(const std::string &message) {
    printf("{\"fault\":\"%s\"}\n", message.c_str());
    exit(1);
}

std::vector<double> numbers(const std::string &text) {
    std::vector<double> found;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, '/');) found.push_back(atof(part.c_str()));
    return found;
}

template <typename Element> std::vector<Element> cast(const std::vector<double> &values) {
    return {values.begin(), values.end()};
}

// Controls that are lists in libcamera need lists, even for one element.
template <typename Element> ControlValue scalarOrList(const ControlId &id, const std::vector<double> &values) {
    if (!id.isArray()) return ControlValue(static_cast<Element>(values.front()));
    auto elements = cast<Element>(values);
    return ControlValue(Span<const Element>(elements));
}

ControlValue parse(const ControlId &id, const std::string &text) {
    auto values = numbers(text);
    if (values.empty()) fail("no value for " + id.name());
    switch (id.type()) {
    case ControlTypeBool: return ControlValue(values.front() != 0);
    case ControlTypeInteger32: return scalarOrList<int32_t>(id, values);
    case ControlTypeInteger64: return scalarOrList<int64_t>(id, values);
    case ControlTypeFloat: return scalarOrList<float>(id, values);
    case ControlTypeRectangle: {
        if (values.size() != 4) fail("a rectangle has four numbers");
        Rectangle rectangle(values[0], values[1], Size(values[2], values[3]));
        return id.isArray() ? ControlValue(Span<const Rectangle>(&rectangle, 1)) : ControlValue(rectangle);
    }
    default: fail("no way to write " + id.name());
    }
}

Wanted wantedFrom(int count, char **words) {
    if (count < 4) fail("usage: camera_probe CAMERA WIDTHxHEIGHT FRAMES [control=value ...] [@FRAME control=value ...]");
    Wanted wanted;
    wanted.camera = words[1];
    if (sscanf(words[2], "%ux%u", &wanted.size.width, &wanted.size.height) != 2) fail("no size");
    wanted.frames = atoi(words[3]);
    unsigned request = 0;
    for (int index = 4; index < count; index++) {
        std::string word = words[index];
        if (word[0] == '@') {
            request = atoi(word.c_str() + 1);
            continue;
        }
        auto split = word.find('=');
        if (split == std::string::npos) fail("no value in " + word);
        auto name = word.substr(0, split), value = word.substr(split + 1);
        if (name == "colors") {
            wanted.colors = value == "709" ? ColorSpace::Rec709 : ColorSpace::Smpte170m;
        } else if (name == "sensor") {
            if (sscanf(value.c_str(), "%ux%u", &wanted.sensor.width, &wanted.sensor.height) != 2) fail("no size");
        } else if (name == "save") {
            wanted.save = value;
        } else {
            wanted.controls[request].emplace_back(name, value);
        }
    }
    return wanted;
}

std::string quoted(const std::string &text) { return "\"" + text + "\""; }

std::string json(const ControlValue &value) {
    if (value.isNone()) return "null";
    if (value.type() == ControlTypeBool && !value.isArray()) return value.get<bool>() ? "true" : "false";
    auto text = value.toString();
    bool number = !text.empty() && text.find_first_not_of("0123456789.-e+") == std::string::npos;
    return number ? text : quoted(text);
}

class Probe {
public:
    Probe(std::shared_ptr<Camera> camera, const Wanted &wanted) : camera_(camera), wanted_(wanted) {}

    void run() {
        configure();
        describe();
        allocate();
        camera_->requestCompleted.connect(this, &Probe::completed);
        if (camera_->start(&startControls_)) fail("not started");
        for (auto &request : requests_) queue(request.get());
        for (unsigned count = 0; count < wanted_.frames; count++) {
            Request *request = next();
            report(request);
            if (count + 1 == wanted_.frames && !wanted_.save.empty()) save(request);
            request->reuse(Request::ReuseBuffers);
            queue(request);
        }
        camera_->stop();
        camera_->requestCompleted.disconnect(this);
    }

private:
    void configure() {
        config_ = camera_->generateConfiguration({StreamRole::VideoRecording});
        if (!config_) fail("no configuration");
        auto &stream = config_->at(0);
        stream.size = wanted_.size;
        stream.pixelFormat = formats::NV12;
        stream.colorSpace = wanted_.colors;
        if (!wanted_.sensor.isNull()) {
            config_->sensorConfig.emplace();
            config_->sensorConfig->bitDepth = 10;
            config_->sensorConfig->outputSize = wanted_.sensor;
        }
        if (config_->validate() == CameraConfiguration::Invalid || stream.size != wanted_.size) fail("no such size");
        if (camera_->configure(config_.get())) fail("not configured");
        for (auto &[name, text] : wanted_.controls[0]) startControls_.set(idOf(name)->id(), parse(*idOf(name), text));
    }

    const ControlId *idOf(const std::string &name) {
        for (auto &[id, info] : camera_->controls())
            if (id->name() == name) return id;
        fail("no control " + name);
    }

    void describe() {
        auto &stream = config_->at(0);
        printf("{\"id\":%s,\"stride\":%u,\"colors\":%s,\"controls\":{", quoted(camera_->id()).c_str(), stream.stride,
               quoted(ColorSpace::toString(stream.colorSpace)).c_str());
        const char *between = "";
        for (auto &[id, info] : camera_->controls()) {
            printf("%s%s:[%s,%s,%s]", between, quoted(id->name()).c_str(), json(info.min()).c_str(), json(info.max()).c_str(),
                   json(info.def()).c_str());
            between = ",";
        }
        printf("},\"properties\":{");
        between = "";
        for (auto &[id, value] : camera_->properties()) {
            printf("%s%s:%s", between, quoted(properties::properties.at(id)->name()).c_str(), json(value).c_str());
            between = ",";
        }
        printf("}}\n");
        fflush(stdout);
    }

    void allocate() {
        auto *stream = config_->at(0).stream();
        if (allocator_.allocate(stream) < 0) fail("no buffers");
        for (auto &buffer : allocator_.buffers(stream)) {
            auto request = camera_->createRequest();
            if (!request || request->addBuffer(stream, buffer.get())) fail("no request");
            auto &plane = buffer->planes().front();
            size_t length = 0;
            for (auto &part : buffer->planes()) length = std::max<size_t>(length, part.offset + part.length);
            void *memory = mmap(nullptr, length, PROT_READ, MAP_SHARED, plane.fd.get(), 0);
            if (memory == MAP_FAILED) fail("a buffer cannot be mapped");
            mapped_[buffer.get()] = {static_cast<const uint8_t *>(memory), length};
            requests_.push_back(std::move(request));
        }
    }

    void queue(Request *request) {
        // Settings from the start are not repeated.
        if (queued_ > 0)
            for (auto &[name, text] : wanted_.controls[queued_])
                request->controls().set(idOf(name)->id(), parse(*idOf(name), text));
        queued_++;
        if (camera_->queueRequest(request)) fail("a request was refused");
    }

    void completed(Request *request) {
        if (request->status() != Request::RequestComplete) return;
        std::lock_guard<std::mutex> guard(mutex_);
        done_.push_back(request);
        changed_.notify_one();
    }

    Request *next() {
        std::unique_lock<std::mutex> guard(mutex_);
        if (!changed_.wait_for(guard, std::chrono::seconds(20), [this] { return !done_.empty(); })) fail("no frame");
        auto *request = done_.front();
        done_.pop_front();
        return request;
    }

    void report(Request *request) {
        auto *buffer = request->buffers().begin()->second;
        auto &metadata = buffer->metadata();
        printf("{\"sequence\":%u,\"status\":%d,\"timestamp\":%llu", metadata.sequence, static_cast<int>(metadata.status),
               static_cast<unsigned long long>(metadata.timestamp));
        for (auto &[id, value] : request->metadata())
            if (auto found = request->metadata().idMap()->find(id); found != request->metadata().idMap()->end())
                printf(",%s:%s", quoted(found->second->name()).c_str(), json(value).c_str());
        reportFields(mapped_[buffer].first);
        printf("}\n");
        fflush(stdout);
    }

    // Chroma comes after luma, in pairs.
    void reportFields(const uint8_t *luma) {
        constexpr unsigned columns = 16, rows = 12;
        unsigned stride = config_->at(0).stride, width = wanted_.size.width / columns, height = wanted_.size.height / rows;
        const uint8_t *chroma = luma + stride * wanted_.size.height;
        printf(",\"fields\":[");
        for (unsigned field = 0; field < columns * rows; field++) {
            unsigned left = field % columns * width, top = field / columns * height, count = 0;
            double sum = 0, squares = 0, cb = 0, cr = 0;
            // Every other line of the field's middle, as its edges belong to its neighbors, too.
            for (unsigned y = top + height / 4; y < top + height * 3 / 4; y += 2) {
                for (unsigned x = left + width / 8; x < left + width * 7 / 8; x++, count++) {
                    double value = luma[y * stride + x];
                    sum += value;
                    squares += value * value;
                    cb += chroma[y / 2 * stride + x / 2 * 2];
                    cr += chroma[y / 2 * stride + x / 2 * 2 + 1];
                }
            }
            double mean = sum / count, spread = std::sqrt(std::max(0.0, squares / count - mean * mean));
            printf("%s[%.1f,%.1f,%.1f,%.1f]", field ? "," : "", mean, cb / count, cr / count, spread);
        }
        printf("]");
    }

    void save(Request *request) {
        auto [memory, length] = mapped_[request->buffers().begin()->second];
        FILE *file = fopen(wanted_.save.c_str(), "wb");
        if (!file || fwrite(memory, 1, length, file) != length || fclose(file)) fail("not saved");
    }

    std::shared_ptr<Camera> camera_;
    Wanted wanted_;
    std::unique_ptr<CameraConfiguration> config_;
    ControlList startControls_{controls::controls};
    FrameBufferAllocator allocator_{camera_};
    std::vector<std::unique_ptr<Request>> requests_;
    std::map<const FrameBuffer *, std::pair<const uint8_t *, size_t>> mapped_;
    unsigned queued_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Request *> done_;
};

} // namespace

int main(int count, char **words) {
    Wanted wanted = wantedFrom(count, words);
    CameraManager manager;
    if (manager.start()) fail("no camera manager");
    std::shared_ptr<Camera> camera;
    for (auto &one : manager.cameras())
        if (one->id().find(wanted.camera) != std::string::npos) camera = one;
    if (!camera) fail("no such camera");
    if (camera->acquire()) fail("not acquired");
    Probe(camera, wanted).run();
    camera->release();
    camera.reset();
    manager.stop();
    return 0;
}
